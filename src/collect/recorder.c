#include "collect/recorder.h"

#include "base/cleanup.h"
#include <errno.h>
#include <stdlib.h>

/* A collector that worked for so many samples has its next failure told again. */
#define GOOD_AGAIN 600

/* A collector at work. */
struct running {
	const struct collector *collector;
	void *state;
	unsigned hush; /* samples until its next failure is told: this one was */
};

struct recorder {
	struct lp_warn *warn;
	struct running items[RECORDER_COLLECTORS_MAX];
	unsigned n;
};

static void recorder_close(void *state)
{
	struct recorder *r = state;

	for (unsigned i = 0; r && i < r->n; i++)
		r->items[i].collector->close(r->items[i].state);
	free(r);
}

DEFINE_CLEANUP(void *, recorder_close);

/* Open every collector that this system can run; say which it cannot. */
static int collectors_open(struct recorder *r, const struct recorder_config *c, struct lp_err *err)
{
	for (unsigned i = 0; i < RECORDER_COLLECTORS_MAX && c->collectors[i]; i++) {
		struct running *item = &r->items[r->n];
		struct lp_err here = {0};
		int got = c->collectors[i]->open(&c->collect, &item->state, &here);

		if (got == -ENOENT || got == -EOPNOTSUPP) {
			lp_warn_raise(c->warn, "without %s: %s", c->collectors[i]->name, here.text);
			continue;
		}
		if (got < 0) {
			*err = here;
			return lp_err_prefix(err, "%s", c->collectors[i]->name);
		}
		item->collector = c->collectors[i];
		r->n++;
	}
	if (!r->n)
		return lp_err_set(err, -ENOENT, "there is nothing to record here");
	return 0;
}

static int recorder_open(void *config, void **ret_state, struct lp_err *err)
{
	const struct recorder_config *c = config;
	_cleanup_(recorder_closep) void *state = calloc(1, sizeof(struct recorder));
	struct recorder *r = state;
	int got;

	if (!r)
		return lp_err_sys(err, -ENOMEM, "cannot begin to record");
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

	(void)at;
	(void)err;
	for (unsigned i = 0; i < r->n; i++) {
		struct running *item = &r->items[i];
		struct lp_err here = {0};
		int got = item->collector->sample(item->state, sink, &here);

		if (got < 0 && !item->hush)
			lp_warn_raise(
				r->warn, "%s: %s (told once)", item->collector->name, here.text);
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
