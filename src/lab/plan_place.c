/* Chooses the server of each fault of a plan. */
#include "lab/plan.h"

#include "base/array.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Servers in the order in which they are used: rounds of all of them, shuffled. */
struct turns {
	unsigned n_servers, n;
	uint64_t rng;
	unsigned servers[2 * LAB_NODES_MAX]; /* from 1 */
};

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static void turns_add_round(struct turns *t)
{
	unsigned *round;

	if (t->n + t->n_servers > ARRAY_SIZE(t->servers))
		t->n = 0; /* only if the same ones are avoided repeatedly */
	round = t->servers + t->n;
	for (unsigned i = 0; i < t->n_servers; i++) {
		unsigned j = (unsigned)(draw(&t->rng) % (i + 1));

		round[i] = round[j];
		round[j] = i + 1;
	}
	t->n += t->n_servers;
}

/* The index of the first server that is not in `avoid`, or `t->n`. */
static unsigned turns_find(const struct turns *t, uint64_t avoid)
{
	unsigned i = 0;

	while (i < t->n && avoid & UINT64_C(1) << t->servers[i])
		i++;
	return i;
}

/* Take the first server that is not in `avoid`; there must be one. */
static unsigned turns_take(struct turns *t, uint64_t avoid)
{
	unsigned i = turns_find(t, avoid), server;

	if (i == t->n) {
		turns_add_round(t);
		i = turns_find(t, avoid);
	}
	server = t->servers[i];
	memmove(t->servers + i, t->servers + i + 1, (t->n - i - 1) * sizeof(*t->servers));
	t->n--;
	return server;
}

/* Servers are numbered from 1 to less than 64. */
static uint64_t bit_of(const char *server)
{
	unsigned long n = *server ? strtoul(server + 1, NULL, 10) : 0;

	return n && n < 64 ? UINT64_C(1) << n : 0;
}

/* Is it the next one in a series of equal experiments? */
static bool alike(const struct experiment *before, const struct experiment *e)
{
	if (before->workload != e->workload || before->n_faults != e->n_faults ||
		before->number + 1 != e->number)
		return false;
	for (unsigned i = 0; i < e->n_faults; i++) {
		if (before->faults[i].fault != e->faults[i].fault ||
			before->faults[i].strength != e->faults[i].strength)
			return false;
	}
	return true;
}

static void experiment_place(struct experiment *e, struct turns *t, uint64_t used[PLAN_FAULTS_MAX])
{
	const uint64_t all = ((UINT64_C(1) << t->n_servers) - 1) << 1;
	uint64_t here = 0;

	for (unsigned i = 0; i < e->n_faults; i++)
		here |= bit_of(e->faults[i].on);
	for (unsigned i = 0; i < e->n_faults; i++) {
		uint64_t avoid = here | used[i];

		if (!*e->faults[i].on) {
			if ((avoid & all) == all) {
				used[i] = 0;
				avoid = here;
			}
			snprintf(e->faults[i].on, sizeof(e->faults[i].on), "s%u",
				turns_take(t, avoid) & 63);
		}
		here |= bit_of(e->faults[i].on);
		used[i] |= bit_of(e->faults[i].on);
	}
}

void plan_place(struct plan *p)
{
	struct turns t = {.n_servers = p->lab.n_servers, .rng = p->lab.seed};
	uint64_t used[PLAN_FAULTS_MAX] = {0};

	for (unsigned i = 0; i < p->n_experiments; i++) {
		struct experiment *e = &p->experiments[i];

		if (!i || !alike(e - 1, e))
			memset(used, 0, sizeof(used));
		experiment_place(e, &t, used);
	}
}
