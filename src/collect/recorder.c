#include "collect/recorder.h"

#include "base/cleanup.h"
#include "base/time.h"
#include <errno.h>
#include <stdlib.h>

/* After this many successful samples, the next failure of a collector is reported again. */
#define GOOD_AGAIN 600

/* A file system may be mounted, and a module loaded, long after the recorder began. */
#define ABSENT_RETRY_US (60 * US_PER_SEC)

/* An active collector. */
struct running {
	const struct collector *collector;
	void *state;
	unsigned hush; /* samples until a failure is reported again */
};

struct recorder {
	const struct recorder_config *config;
	struct lp_warn *warn;
	struct running items[RECORDER_COLLECTORS_MAX];
	unsigned n;
	/* Collectors that were not available so far. */
	const struct collector *absent[RECORDER_COLLECTORS_MAX];
	unsigned n_absent;
	int64_t tried_us; /* when they were last tried */
};

static void recorder_close(void *state)
{
	struct recorder *r = state;

	for (unsigned i = 0; r && i < r->n; i++)
		r->items[i].collector->close(r->items[i].state);
	free(r);
}

DEFINE_CLEANUP(void *, recorder_close);

/* Open one collector. Returns 1 if it runs, 0 if this system lacks it. */
static int collector_start(struct recorder *r, const struct collector *c, struct lp_err *err)
{
	struct running *item = &r->items[r->n];
	int got = c->open(&r->config->collect, &item->state, err);

	if (got == -ENOENT || got == -EOPNOTSUPP)
		return 0;
	if (got < 0)
		return lp_err_prefix(err, "%s", c->name);
	item->collector = c;
	r->n++;
	return 1;
}

/* Open every collector that this system can run; report those that it cannot. */
static int collectors_open(struct recorder *r, const struct recorder_config *c, struct lp_err *err)
{
	for (unsigned i = 0; i < RECORDER_COLLECTORS_MAX && c->collectors[i]; i++) {
		const struct collector *it = c->collectors[i];
		struct lp_err here = {0};
		int got = collector_start(r, it, &here);

		if (got == 0 && (c->named || !it->if_present))
			lp_warn_raise(c->warn, "without %s: %s", it->name, here.text);
		if (got == 0 && it->if_present)
			r->absent[r->n_absent++] = it;
		if (got < 0) {
			*err = here;
			return got;
		}
	}
	if (!r->n)
		return lp_err_set(err, -ENOENT, "there is nothing to record here");
	return 0;
}

/* Try the missing collectors again. A failure is ignored until the next time. */
static void collectors_retry(struct recorder *r, int64_t now_us)
{
	unsigned kept = 0;

	if (!r->tried_us)
		r->tried_us = now_us;
	if (!r->n_absent || now_us - r->tried_us < ABSENT_RETRY_US)
		return;
	r->tried_us = now_us;
	for (unsigned i = 0; i < r->n_absent; i++) {
		if (collector_start(r, r->absent[i], NULL) <= 0)
			r->absent[kept++] = r->absent[i];
	}
	r->n_absent = kept;
}

static int recorder_open(void *config, void **ret_state, struct lp_err *err)
{
	const struct recorder_config *c = config;
	_cleanup_(recorder_closep) void *state = calloc(1, sizeof(struct recorder));
	struct recorder *r = state;
	int got;

	if (!r)
		return lp_err_sys(err, -ENOMEM, "cannot begin to record");
	r->config = c;
	r->warn = c->warn;
	got = collectors_open(r, c, err);
	if (got == 0)
		*ret_state = TAKE_PTR(state);
	return got;
}

static int recorder_sample(
	void *state, const struct instant *at, struct collect_sink *sink, struct lp_err *err)
{
	struct recorder *r = state;

	(void)err;
	collectors_retry(r, at->mono_us);
	for (unsigned i = 0; i < r->n; i++) {
		struct running *item = &r->items[i];
		struct lp_err here = {0};
		int got = item->collector->sample(item->state, sink, &here);

		if (got < 0 && !item->hush)
			lp_warn_raise(r->warn, "%s: %s (reported once)", item->collector->name,
				here.text);
		if (got < 0)
			item->hush = GOOD_AGAIN;
		else if (item->hush)
			item->hush--;
	}
	return 0;
}

const struct instrument instrument_collectors = {
	.name = "collectors",
	.open = recorder_open,
	.sample = recorder_sample,
	.close = recorder_close,
};

int recorder_run(const struct recorder_config *config, struct ticker *ticker,
	struct loop_stats *ret_stats, struct lp_err *err)
{
	struct recorder_config copy = *config;
	struct loop_config loop = {
		.spool = config->spool,
		.interval_us = config->interval_us,
		.flush_us = config->flush_us,
		.duration_us = config->duration_us,
		.warn = config->warn,
	};
	unsigned n = 0;

	loop.spool.observer = config->collect.observer;
	if (config->collectors[0] || !config->n_beside)
		loop.instruments[n++] = (struct loop_instrument){&instrument_collectors, &copy};
	for (unsigned i = 0; i < config->n_beside; i++)
		loop.instruments[n++] = config->beside[i];
	return loop_run(&loop, ticker, ret_stats, err);
}
