#include "trace/calls/calls.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "trace/calls/calls_budget.h"
#include "trace/calls/calls_clock.h"
#include "trace/calls/calls_names.h"
#include "trace/calls/calls_watch.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A function that was not called in this many intervals is not reported until it is called
 * again. */
#define IDLE_PERIODS 600
/* The cost of a process is measured over this time: a moment means little. */
#define BUDGET_SPAN_US (5 * US_PER_SEC)
/* If many functions are switched off, at most this many are printed; the archive has all. */
#define TOLD_MAX 10

struct calls {
	struct instrument instrument;
	struct calls_watch *watch;
	struct calls_names *names;
	struct calls_clock clock;
	struct named_rows *rows;
	struct calls_totals totals;
	struct lp_warn *warn;
	pid_t pid;
	const struct calls_list *list;
	double budget;
	struct strmap too_dear; /* functions that are too expensive for the budget */
	int64_t interval_us, slot;
	bool sampled, over;
	bool idle;
	bool counting; /* counting has begun; earlier counts are ignored */
};

static const struct lp_column columns[CALLS_COLUMNS] = {
	[CALLS_COLUMN_N] = {"n", "calls", LP_COUNTER, 64},
	[CALLS_COLUMN_NS] = {"ns", "ns", LP_COUNTER, 64},
	[CALLS_COLUMN_OFF] = {"off", "processes", LP_GAUGE, 0},
};

static const struct lp_schema schema = {"function", columns, CALLS_COLUMNS};

const struct lp_schema *calls_schema(void)
{
	return &schema;
}

/* The names of a program's functions, and their last counts. */
struct known {
	size_t n;	  /* examined so far */
	int64_t since_us; /* start of the time for `recent` */
	bool readonly;	  /* its table is read-only, so it cannot be switched; that was reported */
	struct known_function {
		char *name; /* NULL: not looked up yet */
		struct calls_counter last;
		uint64_t recent; /* calls since the last check of the budget */
		bool seen, off;
	} functions[CALLS_MAX_FUNCTIONS];
};

static void known_release(void *names)
{
	struct known *k = names;

	for (size_t i = 0; k && i < k->n; i++)
		free(k->functions[i].name);
	free(k);
}

static int program_known(struct calls *c, struct calls_program *p)
{
	struct known *k;

	if (p->names)
		return 0;
	p->names = k = calloc(1, sizeof(struct known));
	if (!k)
		return -ENOMEM;
	p->release = known_release;
	k->since_us = clock_us(CLOCK_MONOTONIC);
	c->totals.programs++;
	return 0;
}

/* A counter that decreased is invalid: the program overwrote it. */
static uint64_t growth(uint64_t now, uint64_t last)
{
	return now > last && now - last <= INT64_MAX / 2 ? now - last : 0;
}

static void function_switch(struct calls *c, struct calls_program *p, size_t i, bool off)
{
	struct known *k = p->names;
	int r = k->readonly ? 0 : calls_reading_switch(&p->reading, p->fd, i, off);

	if (r < 0) {
		k->readonly = true;
		lp_warn_raise(c->warn,
			"process %d (%s): its functions cannot be switched on or off: %s",
			(int)p->pid, p->name, strerror(-r));
	} else if (!k->readonly) {
		c->totals.switched_off += off;
		c->totals.switched_on += !off;
	}
}

/* Switch it according to the list, once; and off if it exceeds the budget in any process. */
static void function_choose(
	struct calls *c, struct calls_program *p, const struct known_function *f, size_t i)
{
	bool on = !p->reading.off[i], was_on = on;
	uint32_t at;

	if (p->ended)
		return;
	if (!f->seen && c->list)
		calls_list_says(c->list, f->name, &on);
	if (strmap_get(&c->too_dear, f->name, &at))
		on = false;
	if (on != was_on)
		function_switch(c, p, i, !on);
}

/* Record that it is switched off, as long as it is, until its process ends. */
static int function_tell_off(struct calls *c, const struct calls_program *p, size_t i)
{
	struct known_function *f = &((struct known *)p->names)->functions[i];
	bool off = p->reading.off[i] && !p->ended;
	int64_t values[CALLS_COLUMNS] = {[CALLS_COLUMN_OFF] = off - f->off};

	if (!c->counting || (!off && !f->off))
		return 0;
	f->off = off;
	return named_rows_add(c->rows, f->name, values);
}

static int function_count(
	struct calls *c, struct calls_program *p, struct known_function *f, size_t i)
{
	const struct calls_counter *now = &p->reading.totals[i];
	uint64_t n = growth(now->count, f->last.count), ticks = growth(now->ticks, f->last.ticks);
	int64_t values[CALLS_COLUMNS] = {[CALLS_COLUMN_N] = (int64_t)n,
		[CALLS_COLUMN_NS] = (int64_t)calls_clock_ns(&c->clock, &p->reading.header, ticks)};

	f->last = *now;
	f->recent += n;
	if (!n && !ticks && !f->off && !p->reading.off[i] && f->seen && !c->idle)
		return 0;
	if (!f->name)
		f->name = calls_names_find(c->names, p, i);
	if (!f->name)
		return -ENOMEM;
	function_choose(c, p, f, i);
	f->seen = true;
	if (!c->counting)
		return 0;
	if ((n || ticks || c->idle) && named_rows_add(c->rows, f->name, values) < 0)
		return -ENOMEM;
	return function_tell_off(c, p, i);
}

/* Report functions that were switched off, and remember them for other processes. */
static int budget_tell(
	struct calls *c, const struct calls_program *p, const struct calls_cost *costs, size_t n)
{
	_cleanup_(strbuf_release) struct strbuf names = {0};
	double call_ns = c->clock.call_ns[p->reading.header.clock], all = 0, off = 0;
	size_t n_off = 0;

	for (size_t i = 0; i < n; i++) {
		all += costs[i].calls;
		if (!costs[i].off)
			continue;
		off += costs[i].calls;
		if (strmap_put(&c->too_dear, costs[i].name, 0) < 0)
			return -ENOMEM;
		if (n_off++ < TOLD_MAX)
			strbuf_printf(&names, "%s%s", n_off > 1 ? ", " : "", costs[i].name);
	}
	if (n_off > TOLD_MAX)
		strbuf_printf(&names, " and %zu more", n_off - TOLD_MAX);
	lp_warn_raise(c->warn,
		"process %d (%s): counting took %.2g%% of a CPU, which is over the budget; %.2g%% "
		"without %s",
		(int)p->pid, p->name, all * call_ns / 1e7, (all - off) * call_ns / 1e7,
		names.text ? names.text : "");
	return 0;
}

/* Check the cost of a process from time to time, and switch off functions that are too
 * expensive. */
static int budget_check(struct calls *c, struct calls_program *p)
{
	struct known *k = p->names;
	int64_t now_us = clock_us(CLOCK_MONOTONIC), span_us = now_us - k->since_us;
	_cleanup_free_ struct calls_cost *costs = NULL;
	double call_ns = c->clock.call_ns[p->reading.header.clock], calls_max, all = 0;
	size_t n = 0;

	if (c->budget <= 0 || p->ended || k->readonly || span_us < BUDGET_SPAN_US)
		return 0;
	costs = calloc(k->n + 1, sizeof(*costs));
	if (!costs)
		return -ENOMEM;
	calls_max = c->budget * 1e9 / call_ns;
	for (size_t i = 0; i < k->n; i++) {
		struct known_function *f = &k->functions[i];

		if (f->recent && f->name && !p->reading.off[i])
			costs[n++] = (struct calls_cost){.name = f->name,
				.calls = (double)f->recent * US_PER_SEC / (double)span_us,
				.at = i};
		f->recent = 0;
	}
	k->since_us = now_us;
	for (size_t i = 0; i < n; i++)
		all += costs[i].calls;
	if (all <= calls_max)
		return 0;
	calls_budget_choose(costs, n, calls_max);
	for (size_t i = 0; i < n; i++) {
		if (!costs[i].off)
			continue;
		function_switch(c, p, costs[i].at, true);
		if (function_tell_off(c, p, costs[i].at) < 0)
			return -ENOMEM;
	}
	return k->readonly ? 0 : budget_tell(c, p, costs, n);
}

/* Programs that start later are counted from their beginning. */
static int program_count(void *ctx, struct calls_program *p, struct lp_err *err)
{
	struct calls *c = ctx;
	struct known *k;
	int r;

	if (c->pid && p->pid != c->pid)
		return 0;
	r = program_known(c, p);
	k = p->names;
	for (size_t i = 0; r == 0 && i < p->reading.header.n_functions; i++) {
		k->n = i < k->n ? k->n : i + 1;
		r = function_count(c, p, &k->functions[i], i);
	}
	if (r == 0)
		r = budget_check(c, p);
	if (p->ended) {
		c->totals.lost_functions += p->reading.header.lost_functions;
		c->totals.lost_threads += p->reading.header.lost_threads;
	}
	return r < 0 ? lp_err_sys(err, r, "cannot count calls") : 0;
}

int calls_look(struct calls *c, struct lp_err *err)
{
	int r;

	named_rows_tick(c->rows);
	r = calls_watch_read(c->watch, program_count, c, c->warn, err);
	calls_names_tick(c->names);
	if (calls_watch_left_out(c->watch) > c->totals.left_out)
		c->totals.left_out = calls_watch_left_out(c->watch);
	return r;
}

static int calls_open(void *config, void **ret_state, struct lp_err *err)
{
	(void)err;
	*ret_state = config;
	return 0;
}

static int calls_sample(
	void *state, const struct instant *at, struct collect_sink *sink, struct lp_err *err)
{
	struct calls *c = state;
	int64_t slot = floor_div(at->wall_us, c->interval_us);
	int r = 0;

	if (!c->over && (!c->sampled || slot != c->slot || at->last))
		r = calls_look(c, err);
	c->sampled = true;
	c->slot = slot;
	if (r == 0)
		r = named_rows_fill(c->rows, sink, err);
	if (r < 0 || !at->last || c->over)
		return r < 0 ? r : 0;
	c->over = true;
	return r;
}

/* Its creator owns it. */
static void calls_close(void *state)
{
	(void)state;
}

void calls_free(struct calls *c)
{
	if (!c)
		return;
	calls_watch_close(c->watch);
	calls_names_free(c->names);
	named_rows_free(c->rows);
	strmap_release(&c->too_dear);
	free(c);
}

DEFINE_CLEANUP(struct calls *, calls_free);

int calls_new(const struct calls_config *config, struct calls **ret, struct lp_err *err)
{
	_cleanup_(calls_freep) struct calls *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return lp_err_sys(err, -ENOMEM, "cannot count calls");
	c->interval_us = config->interval_us ? config->interval_us : CALLS_INTERVAL_US;
	c->warn = config->warn;
	c->pid = config->pid;
	c->list = config->list;
	c->budget = config->budget;
	c->idle = config->idle;
	c->rows = named_rows_new(config->observer, &schema, CALLS_FUNCTIONS_MAX, IDLE_PERIODS);
	c->names = calls_names_new("/proc");
	if (!c->rows || !c->names)
		return lp_err_sys(err, -ENOMEM, "cannot count calls");
	r = calls_watch_open(&(struct calls_watch_config){.directory = config->directory,
				     .proc = "/proc",
				     .netns = config->netns,
				     .passive = config->passive},
		&c->watch, err);
	if (r < 0)
		return r;
	calls_clock_init(&c->clock);
	r = calls_look(c, err);
	if (r < 0)
		return r;
	c->counting = true;
	c->instrument = (struct instrument){.name = "calls",
		.at_ends = config->at_ends,
		.open = calls_open,
		.sample = calls_sample,
		.close = calls_close};
	*ret = TAKE_PTR(c);
	return 0;
}

const struct instrument *calls_instrument(const struct calls *c)
{
	return &c->instrument;
}

double calls_call_ns(const struct calls *c)
{
#if defined(__x86_64__)
	return c->clock.call_ns[CALLS_CLOCK_TSC];
#else
	return c->clock.call_ns[CALLS_CLOCK_NS];
#endif
}

const struct calls_totals *calls_totals(const struct calls *c)
{
	return &c->totals;
}

const struct named_rows *calls_counts(const struct calls *c)
{
	return c->rows;
}
