#include "trace/probes/probes.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "trace/calls/calls.h"
#include "trace/probes/prober.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A function that was not called in this many intervals is not reported until it is called
 * again. */
#define IDLE_PERIODS 600
/* Activity in a shorter time than this is no reason to remove a probe. */
#define LIMIT_SPAN_US (US_PER_SEC / 2)
#define TRACEPOINT_PREFIX "kernel:tracepoints:"

struct counted {
	char *name;
	struct functions_counter last;
	bool gone; /* removed, or never set */
};

struct probes {
	struct instrument instrument;
	struct prober *prober;
	struct counted *counted; /* [place of its counter] */
	uint32_t n;
	struct named_rows *rows;
	struct probes_totals totals;
	uint64_t limit;
	struct lp_warn *warn;
	int64_t interval_us, slot, looked_us;
	bool sampled, over;
};

void probes_free(struct probes *p)
{
	if (!p)
		return;
	prober_close(p->prober);
	for (uint32_t i = 0; p->counted && i < p->n; i++)
		free(p->counted[i].name);
	free(p->counted);
	named_rows_free(p->rows);
	free(p);
}

DEFINE_CLEANUP(struct probes *, probes_free);

/* Remove the probe, because it is too expensive. */
static int let_go(struct probes *p, uint32_t at, double per_second)
{
	struct counted *c = &p->counted[at];
	const int64_t off[CALLS_COLUMNS] = {[CALLS_COLUMN_OFF] = 1};

	prober_remove(p->prober, at);
	c->gone = true;
	p->totals.let_go++;
	lp_warn_raise(p->warn, "%s is called %.0f times per second: its probe is removed (--limit)",
		c->name, per_second);
	return named_rows_add(p->rows, c->name, off);
}

static int counter_look(struct probes *p, uint32_t at, int64_t span_us)
{
	struct counted *c = &p->counted[at];
	struct functions_counter now;
	int64_t values[CALLS_COLUMNS] = {0};
	double per_second;

	/* If its probe was removed, a function stays off. */
	if (c->gone)
		return c->name && at >= FUNCTIONS_FIRST ? named_rows_add(p->rows, c->name, values)
							: 0;
	now = prober_count(p->prober, at);
	values[CALLS_COLUMN_N] = (int64_t)(now.n - c->last.n);
	values[CALLS_COLUMN_NS] = (int64_t)(now.ns - c->last.ns);
	c->last = now;
	if (values[CALLS_COLUMN_N] <= 0 && values[CALLS_COLUMN_NS] <= 0)
		return 0;
	if (named_rows_add(p->rows, c->name, values) < 0)
		return -ENOMEM;
	per_second = (double)values[CALLS_COLUMN_N] * US_PER_SEC / (double)(span_us + 1);
	return at >= FUNCTIONS_FIRST && span_us >= LIMIT_SPAN_US && per_second > (double)p->limit
		? let_go(p, at, per_second)
		: 0;
}

static int look(struct probes *p, struct lp_err *err)
{
	int64_t now_us = clock_us(CLOCK_MONOTONIC), span_us = now_us - p->looked_us;
	int r = 0;

	named_rows_tick(p->rows);
	for (uint32_t i = 0; r == 0 && i < p->n; i++)
		r = counter_look(p, i, span_us);
	p->looked_us = now_us;
	return r < 0 ? lp_err_sys(err, r, "cannot count functions") : 0;
}

static int probes_open(void *config, void **ret_state, struct lp_err *err)
{
	(void)err;
	*ret_state = config;
	return 0;
}

static int probes_sample(
	void *state, const struct instant *at, struct collect_sink *sink, struct lp_err *err)
{
	struct probes *p = state;
	int64_t slot = floor_div(at->wall_us, p->interval_us);
	int r = 0;

	if (!p->over && (!p->sampled || slot != p->slot || at->last))
		r = look(p, err);
	p->sampled = true;
	p->slot = slot;
	if (r == 0)
		r = named_rows_fill(p->rows, sink, err);
	if (r < 0 || !at->last || p->over)
		return r < 0 ? r : 0;
	p->over = true;
	return r;
}

/* Its creator owns it. */
static void probes_close(void *state)
{
	(void)state;
}

static int tracepoints_add(struct probes *p)
{
	for (uint32_t i = 0; i < FUNCTIONS_FIRST; i++) {
		if (asprintf(&p->counted[i].name, TRACEPOINT_PREFIX "%s", prober_tracepoints[i]) <
			0) {
			p->counted[i].name = NULL;
			return -ENOMEM;
		}
		p->counted[i].gone = prober_add_tracepoint(p->prober, i) < 0;
		p->totals.tracepoints += !p->counted[i].gone;
	}
	return 0;
}

/* Leave out functions that the kernel refuses, unless it refuses all. */
static int functions_add(struct probes *p, const struct probe_places *places, struct lp_err *err)
{
	int refused = 0;

	for (size_t i = 0; i < places->n; i++) {
		const struct probe_place *place = &places->items[i];
		uint32_t at = FUNCTIONS_FIRST + (uint32_t)i;
		const struct prober_place in_file = {
			place->pid, place->path, place->offset, place->calls_only};
		int r = place->path ? prober_add_function(p->prober, at, &in_file)
				    : prober_add_kernel(p->prober, at, place->function);

		p->counted[at].name = strdup(place->name);
		if (!p->counted[at].name)
			return lp_err_sys(err, -ENOMEM, "cannot count functions");
		p->counted[at].gone = r < 0;
		p->totals.functions += r == 0;
		p->totals.refused += r < 0;
		if (r < 0 && !refused)
			refused = r;
	}
	p->totals.trampolines = prober_trampolines(p->prober);
	if (!refused || p->totals.functions)
		return 0;
	if (!places->items[0].path)
		return lp_err_set(err, -EOPNOTSUPP,
			"this kernel does not allow probes on its own functions, neither by "
			"trampolines (fentry: CONFIG_DYNAMIC_FTRACE) nor by kprobes "
			"(CONFIG_KPROBES); its tracepoints can be counted ('limpet record "
			"--collect kernel')");
	return lp_err_set(err, -EOPNOTSUPP,
		"the kernel does not allow probes on these functions (%s)", strerror(-refused));
}

static int add_all(struct probes *p, const struct probes_config *config, struct lp_err *err)
{
	uint32_t n = config->places ? (uint32_t)config->places->n : 0;
	int r = prober_open(n, config->tracepoints, config->netns, &p->prober, err);

	if (r < 0)
		return r;
	p->n = FUNCTIONS_FIRST + n;
	p->counted = calloc(p->n, sizeof(*p->counted));
	for (uint32_t i = 0; p->counted && i < FUNCTIONS_FIRST; i++)
		p->counted[i].gone = true;
	if (!p->counted || (config->tracepoints && tracepoints_add(p) < 0))
		return lp_err_sys(err, -ENOMEM, "cannot count functions");
	if (config->tracepoints && !p->totals.tracepoints)
		return lp_err_set(
			err, -EOPNOTSUPP, "this kernel does not allow counting its tracepoints");
	return n ? functions_add(p, config->places, err) : 0;
}

int probes_new(const struct probes_config *config, struct probes **ret, struct lp_err *err)
{
	_cleanup_(probes_freep) struct probes *p = calloc(1, sizeof(*p));
	int r;

	if (p)
		p->rows = named_rows_new(config->observer, calls_schema(),
			FUNCTIONS_FIRST + PROBE_PLACES_MAX, IDLE_PERIODS);
	if (!p || !p->rows)
		return lp_err_sys(err, -ENOMEM, "cannot count functions");
	p->interval_us = config->interval_us ? config->interval_us : PROBES_INTERVAL_US;
	p->limit = config->limit ? config->limit : PROBES_LIMIT;
	p->warn = config->warn;
	p->looked_us = clock_us(CLOCK_MONOTONIC);
	r = add_all(p, config, err);
	if (r < 0)
		return r;
	p->instrument = (struct instrument){.name = "probes",
		.at_ends = config->at_ends,
		.open = probes_open,
		.sample = probes_sample,
		.close = probes_close};
	*ret = TAKE_PTR(p);
	return 0;
}

const struct instrument *probes_instrument(const struct probes *p)
{
	return &p->instrument;
}

const struct probes_totals *probes_totals(const struct probes *p)
{
	return &p->totals;
}

const struct named_rows *probes_counts(const struct probes *p)
{
	return p->rows;
}
