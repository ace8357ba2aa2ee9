/* Shared by the tests of tables: two kinds of components, options for a few metrics, and counters
 * that grow steadily.
 */
#ifndef TESTS_TABLE_STEADY_H
#define TESTS_TABLE_STEADY_H

#include "table_rig.h"

static const struct lp_column bytes_column[] = {{"rx_bytes", "bytes", LP_COUNTER, 64}};
static const struct lp_schema net = {"net", bytes_column, 1};
static const struct lp_column real_column[] = {{"latency", "ms", LP_REAL, 0}};
static const struct lp_schema csv_disk = {"disk", real_column, 1};

static const char *const rxbyt[] = {"rxbyt"};
static const char *const latency[] = {"latency"};

/* Options for some metrics on a grid of `step_us`. */
static struct lp_table_options options_of(const char *const *names, uint32_t n, int64_t step_us)
{
	return (struct lp_table_options){.metrics = names, .n_metrics = n, .step_us = step_us};
}

#define OPTIONS(names, step) options_of(names, ARRAY_SIZE(names), step)

/* A counter that grows by `rate` per second, sampled `n` times from `start_us` on. */
static void add_steady(
	struct rig *r, uint32_t id, int64_t start_us, int64_t interval_us, int n, int64_t rate)
{
	for (int i = 0; i < n; i++) {
		int64_t at = i * interval_us;

		rig_sample(r, start_us + at, at);
		rig_set1(r, id, at / US_PER_SEC * rate);
	}
}

#endif
