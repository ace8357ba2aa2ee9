#include "model/table_times.h"

#include "base/array.h"
#include "base/time.h"
#include <errno.h>
#include <stdlib.h>

/* Times beyond this (33,000 years) mean nothing, and sums of them would overflow: such samples are
 * left out. */
#define WALL_MAX_US (INT64_C(1) << 60)

void table_times_release(struct table_times *t)
{
	free(t->slots);
	free(t->dt_s);
	free(t->wanted);
	free(t->segments);
	*t = (struct table_times){0};
}

static bool is_beyond(int64_t wall_us)
{
	return wall_us > WALL_MAX_US || wall_us < -WALL_MAX_US;
}

/* The slot whose step (slot - 1, slot] holds a sample of that time. Samples come a little late or
 * early: half an interval of tolerance puts each on the instant it was meant for. */
static int64_t slot_of(int64_t wall_us, int64_t step_us, int64_t tolerance_us)
{
	if (step_us == LP_TABLE_FOREVER)
		return 0;
	if (is_beyond(wall_us))
		return 0;
	return -floor_div(-(wall_us - tolerance_us), step_us);
}

static bool in_time(const struct lp_table_options *opt, int64_t wall_us)
{
	return (!opt->from_us || wall_us >= opt->from_us) && (!opt->to_us || wall_us < opt->to_us);
}

static int times_reserve(struct table_times *t, uint32_t n)
{
	if (array_reserve(&t->slots, &t->cap_slots, n, sizeof(*t->slots)) < 0 ||
		array_reserve(&t->dt_s, &t->cap_dt, n, sizeof(*t->dt_s)) < 0 ||
		array_reserve(&t->wanted, &t->cap_wanted, n, sizeof(*t->wanted)) < 0 ||
		array_reserve(&t->segments, &t->cap_segments, n, sizeof(*t->segments)) < 0)
		return -ENOMEM;
	return 0;
}

/* Does sample `s` go on with a segment that ends with the sample before it? */
static bool segment_continues(const struct table_times *t, uint32_t s)
{
	const int64_t *wall = t->batch->wall_us;

	return t->n_segments && t->segments[t->n_segments - 1].regular &&
		t->slots[s] == t->slots[s - 1] && (wall[s] > wall[s - 1] || t->forever);
}

/* Put sample `s` into the last segment, or into one of its own. */
static void segment_add(struct table_times *t, uint32_t s)
{
	bool regular = t->wanted[s] && t->dt_s[s] > 0;

	if (!regular || !segment_continues(t, s))
		t->segments[t->n_segments++] =
			(struct table_segment){.first = s, .regular = regular};
	t->segments[t->n_segments - 1].end = s + 1;
	t->segments[t->n_segments - 1].dt_s += t->dt_s[s];
}

int table_times_make(struct table_times *t, const struct lp_table_options *opt, int64_t interval_us,
	const struct lp_batch *batch)
{
	int64_t interval = interval_us > 0 ? interval_us : opt->step_us;
	int64_t tolerance_us = (interval < opt->step_us ? interval : opt->step_us) / 2;

	if (times_reserve(t, batch->n_samples) < 0)
		return -ENOMEM;
	t->batch = batch;
	t->forever = opt->step_us == LP_TABLE_FOREVER;
	t->n_segments = t->n_beyond = 0;
	for (uint32_t s = 0; s < batch->n_samples; s++) {
		int64_t dt_us = 0;

		if (s && __builtin_sub_overflow(batch->mono_us[s], batch->mono_us[s - 1], &dt_us))
			dt_us = 0;
		t->slots[s] = slot_of(batch->wall_us[s], opt->step_us, tolerance_us);
		t->dt_s[s] = (double)dt_us / 1e6;
		t->wanted[s] = (s > 0 || !batch->carry) && in_time(opt, batch->wall_us[s]);
		if (t->wanted[s] && !t->forever && is_beyond(batch->wall_us[s])) {
			t->wanted[s] = false;
			t->n_beyond++;
		}
		segment_add(t, s);
	}
	return 0;
}
