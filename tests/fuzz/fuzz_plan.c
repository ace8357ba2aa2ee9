/* A plan of experiments from arbitrary text. */
#include "base/cleanup.h"
#include "fuzz.h"
#include "lab/plan.h"
#include <stdlib.h>
#include <string.h>

/* Every fault is on an existing server, and no two of the same kind are on one server. */
static void check_placed(const struct plan *p, const struct experiment *e)
{
	for (unsigned i = 0; i < e->n_faults; i++) {
		const char *on = e->faults[i].on;
		unsigned long n = *on == 's' ? strtoul(on + 1, NULL, 10) : 0;

		if (!n || n > p->lab.n_servers)
			abort();
		for (unsigned j = 0; j < i; j++) {
			if (!strcmp(e->faults[i].on, e->faults[j].on) &&
				e->faults[i].fault == e->faults[j].fault)
				abort();
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(plan_release) struct plan p = {0};
	_cleanup_free_ char *text = malloc(size + 1);
	struct lp_err err = {0};

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (plan_parse("plan", text, &p, &err) < 0) {
		if (!*err.text || strncmp(err.text, "plan:", 5))
			abort();
		return 0;
	}
	if (!p.n_experiments || p.n_experiments > PLAN_EXPERIMENTS_MAX)
		abort();
	plan_place(&p);
	for (unsigned i = 0; i < p.n_experiments; i++) {
		char buf[256];

		check_placed(&p, &p.experiments[i]);
		if (!*experiment_faults(&p.experiments[i], buf, sizeof(buf)) ||
			experiment_us(&p.experiments[i]) <= 0)
			abort();
	}
	return 0;
}
