#include "trace/calls/calls.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "trace/calls/calls_clock.h"
#include "trace/calls/calls_names.h"
#include "trace/calls/calls_watch.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A function that was not called in so many intervals is not told of until it is. */
#define IDLE_PERIODS 600

struct calls {
	struct instrument instrument;
	struct calls_watch *watch;
	struct calls_names *names;
	struct calls_clock clock;
	struct named_rows *rows;
	struct calls_totals totals;
	struct lp_warn *warn;
	int64_t interval_us, slot;
	bool sampled, over;
	bool counting; /* what was counted before it begins is not ours */
};

static const struct lp_column columns[CALLS_COLUMNS] = {
	[CALLS_COLUMN_N] = {"n", "calls", LP_COUNTER, 64},
	[CALLS_COLUMN_NS] = {"ns", "ns", LP_COUNTER, 64},
};

static const struct lp_schema schema = {"function", columns, CALLS_COLUMNS};

/* What a program's functions are called, and what was counted of them the last time. */
struct known {
	size_t n; /* looked at so far */
	struct known_function {
		char *name; /* NULL: not asked for yet */
		struct calls_counter last;
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
	if (p->names)
		return 0;
	p->names = calloc(1, sizeof(struct known));
	if (!p->names)
		return -ENOMEM;
	p->release = known_release;
	c->totals.programs++;
	return 0;
}

/* A counter that shrank is none: the program wrote over it. */
static uint64_t growth(uint64_t now, uint64_t last)
{
	return now > last && now - last <= INT64_MAX / 2 ? now - last : 0;
}

static int function_count(
	struct calls *c, const struct calls_program *p, struct known_function *f, size_t i)
{
	const struct calls_counter *now = &p->reading.totals[i];
	uint64_t n = growth(now->count, f->last.count), ticks = growth(now->ticks, f->last.ticks);
	int64_t values[CALLS_COLUMNS] = {[CALLS_COLUMN_N] = (int64_t)n,
		[CALLS_COLUMN_NS] = (int64_t)calls_clock_ns(&c->clock, &p->reading.header, ticks)};

	f->last = *now;
	if (!n && !ticks)
		return 0;
	if (!f->name)
		f->name = calls_names_find(c->names, p, i);
	if (!f->name)
		return -ENOMEM;
	return c->counting ? named_rows_add(c->rows, f->name, values) : 0;
}

/* Programs that begin while we watch are counted from their beginning on. */
static int program_count(void *ctx, struct calls_program *p, struct lp_err *err)
{
	struct calls *c = ctx;
	int r = program_known(c, p);
	struct known *k = p->names;

	for (size_t i = 0; r == 0 && i < p->reading.header.n_functions; i++) {
		k->n = i < k->n ? k->n : i + 1;
		r = function_count(c, p, &k->functions[i], i);
	}
	if (p->ended) {
		c->totals.lost_functions += p->reading.header.lost_functions;
		c->totals.lost_threads += p->reading.header.lost_threads;
	}
	return r < 0 ? lp_err_sys(err, r, "cannot count calls") : 0;
}

static int look(struct calls *c, struct lp_err *err)
{
	int r;

	named_rows_tick(c->rows);
	r = calls_watch_read(c->watch, program_count, c, c->warn, err);
	calls_names_tick(c->names);
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
		r = look(c, err);
	c->sampled = true;
	c->slot = slot;
	if (r == 0)
		r = named_rows_fill(c->rows, sink, err);
	if (r < 0 || !at->last || c->over)
		return r < 0 ? r : 0;
	c->over = true;
	return r;
}

/* It belongs to whoever made it. */
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
	c->rows = named_rows_new(config->observer, &schema, CALLS_FUNCTIONS_MAX, IDLE_PERIODS);
	c->names = calls_names_new("/proc");
	if (!c->rows || !c->names)
		return lp_err_sys(err, -ENOMEM, "cannot count calls");
	r = calls_watch_open(config->directory, "/proc", &c->watch, err);
	if (r < 0)
		return r;
	calls_clock_init(&c->clock);
	r = look(c, err);
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

const struct calls_totals *calls_totals(const struct calls *c)
{
	return &c->totals;
}

const struct named_rows *calls_counts(const struct calls *c)
{
	return c->rows;
}
