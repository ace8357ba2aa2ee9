/* The cost of keeping an engine up to date.
 *
 *     engine_bench [-s MS] [COMPONENTS [SECONDS [METRIC...]]]    default: 50 100000 640 await
 * rd_sec
 *
 * An advance works for MS milliseconds and leaves the rest for later ones; 0: no limit.
 *
 * Makes observers with 50 disks each and an engine, and lets time pass: in each simulated second it
 * feeds the sample of every observer as a separate batch, and advances the engine by one second.
 * Time begins where an epoch of the fast horizon does, so that the first look at the peers comes
 * after 315 s and the next one after 615 s. One disk in 997 is 8 times as slow from second 400 on.
 *
 * Prints the time to feed one second of an observer, and the time of an advance: when nothing was
 * due, when a window was complete, and at an epoch. Then it prints the time of a verdict at the
 * end, and the memory before and after it, without that of the simulated observers. CPU time is
 * that of all threads. Generating samples does not count. */
#include <limpet/engine.h>

#include "base/time.h"
#include "clock.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DISKS 50
#define SLOW_EVERY 997
#define SLOW_FROM_S 400
/* A multiple of the 300 s from one epoch of the fast horizon to the next. */
#define START_S INT64_C(1299999900)
/* The fast horizon, by second: windows of 30 samples, shifted by 15; 20 windows are an epoch. */
#define WINDOW_S 15
#define EPOCH_S 300

enum { RD_IOS, RD_SEC, RD_TICKS, WR_IOS, WR_SEC, WR_TICKS, COLUMNS };

static const struct lp_column columns[] = {{"rd_ios", "requests", LP_COUNTER, 64},
	{"rd_sec", "sectors", LP_COUNTER, 64}, {"rd_ticks", "ms", LP_COUNTER, 64},
	{"wr_ios", "requests", LP_COUNTER, 64}, {"wr_sec", "sectors", LP_COUNTER, 64},
	{"wr_ticks", "ms", LP_COUNTER, 64}};
static const struct lp_schema schema = {"disk", columns, COLUMNS};

/* A batch has two samples: the carried one, and a new one. */
struct observer {
	struct lp_source source;
	struct lp_batch *batch;
};

static void __attribute__((noreturn)) die(const char *text)
{
	fprintf(stderr, "engine_bench: %s\n", text);
	exit(1);
}

static void *need(void *p)
{
	if (!p)
		die("out of memory");
	return p;
}

static uint32_t below(uint32_t n)
{
	static uint64_t state = 42;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 11) % n;
}

static double rss_mib(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	char line[128], *second;

	if (!f || !fgets(line, sizeof(line), f) || !(second = strchr(line, ' ')))
		die("cannot read /proc/self/statm");
	fclose(f);
	return (double)strtol(second, NULL, 10) * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

static void observer_make(struct observer *o, uint32_t number)
{
	char observer[16], disk[16];
	struct lp_batch_kind *k;
	uint32_t at, id, row;

	snprintf(observer, sizeof(observer), "oss%05u", number);
	o->source = (struct lp_source){.catalogue = need(lp_catalogue_new()),
		.path = (char *)"engine_bench",
		.interval_us = US_PER_SEC};
	o->batch = need(lp_batch_new(2));
	if (lp_catalogue_add_schema(o->source.catalogue, &schema, &at, NULL) < 0 ||
		lp_batch_kind_get(o->batch, at, COLUMNS, NULL, &k) < 0)
		need(NULL);
	for (uint32_t i = 0; i < DISKS; i++) {
		snprintf(disk, sizeof(disk), "sd%02u", i);
		if (lp_catalogue_add_component(
			    o->source.catalogue, at, observer, disk, "", &id, NULL) < 0 ||
			lp_batch_add_component(o->batch, k, id, &row) < 0)
			need(NULL);
	}
}

/* The next second: the last sample becomes the carried one, and counters grow. All disks have the
 * same load. */
static void observer_sample(struct observer *o, uint32_t number, uint32_t second, uint32_t load)
{
	struct lp_batch *b = o->batch;
	struct lp_batch_kind *k = b->kinds;
	int64_t wall_us = (START_S + second) * US_PER_SEC + 1000;

	if (b->n_samples < 2 && lp_batch_add_sample(b, wall_us, wall_us) < 0)
		need(NULL);
	if (second)
		b->wall_us[0] = b->mono_us[0] = wall_us - US_PER_SEC;
	b->carry = second > 0;
	b->wall_us[b->n_samples - 1] = b->mono_us[b->n_samples - 1] = wall_us;
	for (uint32_t d = 0; d < DISKS; d++) {
		bool slow = (number * DISKS + d) % SLOW_EVERY == 0 && second >= SLOW_FROM_S;
		int64_t ios = load + below(20),
			grown[COLUMNS] = {[RD_IOS] = ios,
				[RD_SEC] = 64 * ios,
				[RD_TICKS] = ios * (4 + below(3)) * (slow ? 8 : 1)};
		size_t at = (size_t)d * b->cap_samples;

		k->state[at] = k->state[at + 1] = LP_PRESENT;
		for (uint32_t c = 0; c < COLUMNS; c++) {
			int64_t *cells = k->columns[c] + at;

			cells[0] = second > 1 ? cells[1] : cells[0];
			cells[second ? 1 : 0] = cells[0] + grown[c];
		}
	}
}

struct cost {
	const char *what;
	double sum_s, max_s, cpu_s, max_cpu_s;
	uint64_t n;
};

/* The clocks before an operation. */
struct stopwatch {
	double wall_s, cpu_s;
};

static struct stopwatch stopwatch_start(void)
{
	return (struct stopwatch){seconds(), cpu_seconds()};
}

static void cost_add(struct cost *c, const struct stopwatch *since)
{
	double took_s = seconds() - since->wall_s, cpu_s = cpu_seconds() - since->cpu_s;

	c->cpu_s += cpu_s;
	c->max_cpu_s = fmax(c->max_cpu_s, cpu_s);
	c->sum_s += took_s;
	c->max_s = fmax(c->max_s, took_s);
	c->n++;
}

static void cost_print(const struct cost *c)
{
	double n = c->n ? (double)c->n : 1;

	printf("%-32s %9lu %12.3f %12.3f %12.3f %12.3f\n", c->what, (unsigned long)c->n,
		c->sum_s / n * 1e3, c->max_s * 1e3, c->cpu_s / n * 1e3, c->max_cpu_s * 1e3);
}

struct costs {
	struct cost feed, step, window, epoch, verdict;
};

static void costs_print(const struct costs *c)
{
	cost_print(&c->feed);
	cost_print(&c->step);
	cost_print(&c->window);
	cost_print(&c->epoch);
	cost_print(&c->verdict);
}

/* What is due when `second` is complete? Windows end at multiples of their shift. */
static struct cost *costs_advance(struct costs *c, uint32_t second)
{
	uint32_t n = second + 1;

	if (n % EPOCH_S == WINDOW_S && n > EPOCH_S)
		return &c->epoch;
	return n % WINDOW_S == 0 && n > EPOCH_S ? &c->window : &c->step;
}

static void second_pass(struct lp_engine *e, struct observer *observers, uint32_t n,
	uint32_t second, struct costs *c)
{
	uint32_t load = 40 + below(40);
	struct lp_err err = {0};
	struct stopwatch start;

	for (uint32_t i = 0; i < n; i++) {
		observer_sample(&observers[i], i, second, load);
		start = stopwatch_start();
		if (lp_engine_feed(e, &observers[i].source, observers[i].batch, &err) < 0)
			die(err.text);
		cost_add(&c->feed, &start);
	}
	start = stopwatch_start();
	if (lp_engine_advance(e, (START_S + second) * US_PER_SEC + US_PER_SEC / 2, &err) < 0)
		die(err.text);
	cost_add(costs_advance(c, second), &start);
}

static void verdict_ask(struct lp_engine *e, struct costs *c)
{
	struct lp_verdict *v;
	struct lp_err err = {0};
	struct stopwatch start = stopwatch_start();

	if (lp_engine_verdict(e, &v, &err) < 0)
		die(err.text);
	cost_add(&c->verdict, &start);
	printf("%u components in %u groups, %u suspects\n\n", v->n_components, v->n_groups,
		v->n_suspects);
	lp_verdict_free(v);
}

/* -s MS, which is removed from the arguments. */
static int64_t slice_take(int *argc, char ***argv)
{
	double ms = 50;

	if (*argc > 2 && !strcmp((*argv)[1], "-s")) {
		ms = strtod((*argv)[2], NULL);
		*argc -= 2;
		*argv += 2;
	}
	return (int64_t)(ms * 1e3);
}

int main(int argc, char **argv)
{
	static const char *const usual[] = {"await", "rd_sec"};
	int64_t slice_us = slice_take(&argc, &argv);
	uint32_t n_components = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 100000;
	uint32_t n_seconds = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 640;
	uint32_t n = (n_components + DISKS - 1) / DISKS;
	struct lp_diagnose_options options = {
		.metrics = argc > 3 ? (const char *const *)argv + 3 : usual,
		.n_metrics = argc > 3 ? (uint32_t)argc - 3 : 2,
		.slice_us = slice_us};
	struct observer *observers = need(calloc(n, sizeof(*observers)));
	struct costs c = {{.what = "feed, one observer's second"}, {.what = "advance, nothing due"},
		{.what = "advance, a window is complete"}, {.what = "advance, at an epoch"},
		{.what = "verdict"}};
	struct lp_engine *e;
	struct lp_err err = {0};
	double before, fed, start = seconds();

	for (uint32_t i = 0; i < n; i++)
		observer_make(&observers[i], i);
	before = rss_mib();
	if (lp_engine_new(&options, US_PER_SEC, &e, &err) < 0)
		die(err.text);
	for (uint32_t s = 0; s < n_seconds; s++)
		second_pass(e, observers, n, s, &c);
	fed = rss_mib() - before;
	verdict_ask(e, &c);
	printf("%-32s %9s %12s %12s %12s %12s\n", "", "times", "mean, ms", "most, ms", "CPU, ms",
		"most CPU, ms");
	costs_print(&c);
	printf("\n%u observers, %u s: %.1f s in all; the engine has %.0f MiB, %.0f after the "
	       "verdict\n",
		n, n_seconds, seconds() - start, fed, rss_mib() - before);
	lp_engine_free(e);
	for (uint32_t i = 0; i < n; i++) {
		lp_batch_free(observers[i].batch);
		lp_catalogue_free(observers[i].source.catalogue);
	}
	free(observers);
	return 0;
}
