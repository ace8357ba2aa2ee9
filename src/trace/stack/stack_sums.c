/* The metrics by server and by client. */
#include "base/array.h"
#include "base/idmap.h"
#include "trace/stack/stack_metrics.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A server with its name, for sorting. */
struct named {
	const char *name;
	uint32_t observer;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

int stack_servers_find(struct stack_metrics *m)
{
	const struct spans *s = m->graph->spans;
	struct named *found = calloc(s->n_observers + 1, sizeof(*found));
	bool *is_server = calloc(s->n_observers + 1, sizeof(*is_server));
	size_t n = 0;

	for (size_t i = 0; found && is_server && i < s->n; i++) {
		if (s->layers[i] >= layers_n || layers[s->layers[i]].side < LAYER_SERVER ||
			is_server[s->observers[i]])
			continue;
		is_server[s->observers[i]] = true;
		found[n++] = (struct named){s->observer_names[s->observers[i]], s->observers[i]};
	}
	if (found && n)
		qsort(found, n, sizeof(*found), by_name);
	m->servers = found && is_server ? calloc(n + 1, sizeof(*m->servers)) : NULL;
	for (size_t i = 0; m->servers && i < n; i++)
		m->servers[m->n_servers++] =
			(struct stack_server){.observer = found[i].observer, .slowest = STACK_NONE};
	free(found);
	free(is_server);
	return m->servers ? 0 : -ENOMEM;
}

const char *stack_server_name(const struct stack_metrics *m, uint32_t server)
{
	return m->graph->spans->observer_names[m->servers[server].observer];
}

void stack_servers_sum(struct stack_metrics *m)
{
	for (size_t i = 0; i < m->n_shares; i++) {
		const struct stack_share *share = &m->shares[i];
		struct stack_server *s = &m->servers[share->server];

		s->calls++;
		s->requests += share->requests;
		s->disk_accesses += share->disk_accesses;
		stack_add(&s->ns, share->ns);
		stack_add(&s->disk_ns, share->disk_ns);
		stack_add(&s->disk_busy_ns, share->disk_busy_ns);
		stack_add(&s->bytes, share->bytes);
		stack_add(&s->disk_bytes, share->disk_bytes);
		s->joules += share->joules;
		if (s->slowest == STACK_NONE || share->ns > s->longest_ns) {
			s->longest_ns = share->ns;
			s->slowest = share->call;
		}
	}
}

static int by_rank(const void *a, const void *b)
{
	const struct stack_client *x = a, *y = b;

	return (x->rank > y->rank) - (x->rank < y->rank);
}

static struct stack_client *client_find(
	struct stack_metrics *m, struct idmap *places, int32_t rank, size_t *cap)
{
	uint32_t at;

	if (idmap_get(places, (uint32_t)rank, &at))
		return &m->clients[at];
	if (array_reserve(&m->clients, cap, m->n_clients + 1, sizeof(*m->clients)) < 0 ||
		idmap_put(places, (uint32_t)rank, (uint32_t)m->n_clients) < 0)
		return NULL;
	m->clients[m->n_clients] = (struct stack_client){.rank = rank};
	return &m->clients[m->n_clients++];
}

/* `busy_until` has the end of the latest call so far, for each client. */
int stack_clients_sum(struct stack_metrics *m)
{
	int64_t *busy_until = NULL;
	struct idmap places = {0};
	size_t cap = 0, cap_busy = 0;
	int r = 0;

	for (size_t i = 0; i < m->n_calls && r == 0; i++) {
		const struct stack_call *call = &m->calls[i];
		const struct span *s = &m->graph->spans->items[call->span];
		int64_t ns = s->end_ns - s->start_ns, *until;
		struct stack_client *c = client_find(m, &places, call->rank, &cap);

		if (!c ||
			array_reserve(&busy_until, &cap_busy, m->n_clients, sizeof(*busy_until)) <
				0) {
			r = -ENOMEM;
			break;
		}
		until = &busy_until[c - m->clients];
		c->calls++;
		stack_add(&c->ns, ns);
		stack_add(&c->bytes, s->result > 0 ? s->result : 0);
		stack_add(&c->communicating_ns, call->communicating_ns);
		c->longest_ns = ns > c->longest_ns ? ns : c->longest_ns;
		if (s->end_ns > *until) {
			stack_add(&c->busy_ns,
				s->end_ns - (s->start_ns > *until ? s->start_ns : *until));
			*until = s->end_ns;
		}
	}
	if (m->clients)
		qsort(m->clients, m->n_clients, sizeof(*m->clients), by_rank);
	idmap_release(&places);
	free(busy_until);
	return r;
}

double stack_rate(int64_t bytes, int64_t ns)
{
	return ns > 0 ? (double)bytes / ((double)ns / 1e9) : 0;
}

int64_t stack_call_latency(const struct stack_metrics *m, const struct stack_call *call)
{
	const struct span *s = &m->graph->spans->items[call->span];

	return s->end_ns - s->start_ns;
}

int64_t stack_call_server_ns(const struct stack_metrics *m, const struct stack_call *call)
{
	int64_t longest = 0;

	for (uint32_t i = call->shares; i < call->shares + call->n_shares; i++)
		longest = m->shares[i].ns > longest ? m->shares[i].ns : longest;
	return longest;
}

double stack_call_disk_rate(const struct stack_metrics *m, const struct stack_call *call)
{
	double sum = 0;

	for (uint32_t i = call->shares; i < call->shares + call->n_shares; i++)
		sum += stack_rate(m->shares[i].disk_bytes, m->shares[i].disk_busy_ns);
	return sum;
}

double stack_call_energy(const struct stack_metrics *m, const struct stack_call *call)
{
	if (!m->drive)
		return 0;
	return call->joules +
		m->drive->idle_w * call->n_disks * ((double)stack_call_latency(m, call) / 1e9);
}

/* Mean power during a call of disks that use `joules` more than idle disks. */
static double power(const struct stack_metrics *m, const struct stack_call *call, uint32_t n_disks,
	double joules)
{
	double s = (double)stack_call_latency(m, call) / 1e9;

	return m->drive && n_disks ? m->drive->idle_w * n_disks + (s > 0 ? joules / s : 0) : 0;
}

double stack_call_power(const struct stack_metrics *m, const struct stack_call *call)
{
	return power(m, call, call->n_disks, call->joules);
}

double stack_share_power(const struct stack_metrics *m, const struct stack_share *share)
{
	return power(m, &m->calls[share->call], share->n_disks, share->joules);
}
