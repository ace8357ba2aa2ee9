#include "model/table_peak.h"

#include <errno.h>
#include <limpet/metric.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A peak over less than this many samples is hardly more than a value. */
#define PEAK_SAMPLES_LEAST 5

int64_t peak_span_us(const char *metric)
{
	for (const struct lp_metric *const *m = lp_metric_all(); *m; m++) {
		if ((*m)->peak_s && !strcmp((*m)->name, metric))
			return (int64_t)(*m)->peak_s * 1000000;
	}
	return 0;
}

bool peak_fits(const char *metric, int64_t step_us)
{
	int64_t span = peak_span_us(metric);

	return !span || span / PEAK_SAMPLES_LEAST >= step_us;
}

/* `queue` has the places of values, each smaller than the one before it: the first is the largest
 * of the stretch, the others those that will be once it has left. */
int peak_apply(double *values, uint32_t n, uint32_t width)
{
	double *from = calloc((size_t)n + 1, sizeof(*from));
	uint32_t *queue = calloc((size_t)n + 1, sizeof(*queue));
	uint32_t head = 0, tail = 0;

	if (!from || !queue) {
		free(from);
		free(queue);
		return -ENOMEM;
	}
	memcpy(from, values, n * sizeof(*from));
	for (uint32_t i = 0; i < n; i++) {
		if (head < tail && i - queue[head] >= width)
			head++;
		if (!isnan(from[i])) {
			while (head < tail && from[queue[tail - 1]] <= from[i])
				tail--;
			queue[tail++] = i;
		}
		values[i] = head < tail ? from[queue[head]] : NAN;
	}
	free(from);
	free(queue);
	return 0;
}

int peak_row(struct lp_table *t, uint32_t row, int64_t span_us)
{
	return peak_apply(
		t->values + (size_t)row * t->n_slots, t->n_slots, (uint32_t)(span_us / t->step_us));
}
