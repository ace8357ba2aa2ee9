#include "model/table_row.h"

#include "base/array.h"
#include "base/time.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Times beyond this (33,000 years) are meaningless, and sums would overflow: such samples are left
 * out. */
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

/* The slot for a time: its step is (slot - 1, slot]. Samples are a little late or early; a
 * tolerance of half an interval assigns each to its intended instant. */
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

/* Does sample `s` continue a segment that ends with the previous sample? */
static bool segment_continues(const struct table_times *t, uint32_t s)
{
	const int64_t *wall = t->batch->wall_us;

	return t->n_segments && t->segments[t->n_segments - 1].regular &&
		t->slots[s] == t->slots[s - 1] && (wall[s] > wall[s - 1] || t->forever);
}

/* Add sample `s` to the last segment, or to a new one. */
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

/* Sums of whole numbers up to this are exact, in any order. */
#define EXACT_MAX 0x1p53

void table_row_release(struct table_row *row)
{
	pages_release(&row->pages);
	lp_identity_unref(row->component);
	*row = (struct table_row){0};
}

/* The value of the current slot. For a latency, the second input is the number of requests. */
static double row_value(const struct table_row *row)
{
	const struct lp_metric *m = row->metric;

	if (row->gaps && m && m->role == LP_ROLE_LATENCY && m->inputs[1] && !(row->acc.in[1] > 0))
		return NAN;
	return bind_shape_value(m, row->shape, &row->acc);
}

/* Store the value of the current slot in the row. */
static inline int row_put(struct table_row *row, struct table_budget *budget)
{
	int r;

	if (!row->open || !row->acc.n)
		return 0;
	r = pages_put(&row->pages, row->slot, row_value(row), budget);
	if (r < 0)
		return r;
	if (row->head.state == HEAD_CLOSED && row->slot == row->head.slot)
		row->head.replaced = true;
	return 0;
}

/* End the current slot. */
static inline void row_close(struct table_row *row)
{
	if (row->head.state == HEAD_OPEN) {
		row->head.state = HEAD_CLOSED;
		row->head.acc = row->acc;
	}
	row->open = false;
	row->acc = (struct bind_acc){0};
}

int table_row_drop(struct table_row *row, int64_t from, int64_t end, int64_t step_us,
	struct table_budget *budget)
{
	int64_t first, behind;
	int r = pages_drop(&row->pages, from, end, budget);

	if (row->open && row->slot >= from && row->slot < end)
		row_close(row);
	if (row->last_wall > (from - 1) * step_us && row->last_wall <= end * step_us)
		row->last_wall = pages_span(&row->pages, &first, &behind) ? (behind - 1) * step_us
									  : INT64_MIN;
	return r;
}

int table_row_move(struct table_row *row, int64_t from, int64_t end, int64_t by, int64_t step_us,
	struct table_budget *budget)
{
	int64_t first, behind;
	int r = pages_shift(&row->pages, from, end, by, budget);

	if (row->open && row->slot >= from && row->slot < end)
		row_close(row);
	if (r == 0 && pages_span(&row->pages, &first, &behind))
		row->last_wall = (behind - 1) * step_us;
	return r;
}

/* Begin `slot` with a sample. */
static inline int row_turn(
	struct table_row *row, int64_t slot, int64_t wall, struct table_budget *budget)
{
	int r = row_put(row, budget);

	/* Even if the slot is the same: a repeat begins it again, and the later one counts if it
	 * has a value. */
	row_close(row);
	row->slot = slot;
	row->open = true;
	if (row->head.state == HEAD_NONE)
		row->head = (struct table_head){.state = HEAD_OPEN,
			.slot = slot,
			.first_wall = wall,
			.metric = row->metric,
			.shape = row->shape};
	return r;
}

/* Does a sample belong to the current slot, and not to a repeat of it? */
static inline bool row_goes_on(
	const struct table_row *row, int64_t slot, int64_t wall, bool forever)
{
	return row->open && slot == row->slot && (wall > row->last_wall || forever);
}

/* Sums of a binding with another meaning cannot be continued. Their value is already stored, and
 * the slot begins again. */
static void row_bind(struct table_row *row, const struct bind *bind)
{
	uint32_t shape = bind_shape(bind);

	if (row->metric == bind->metric && row->shape == shape)
		return;
	row_close(row);
	row->metric = bind->metric;
	row->shape = shape;
}

/* The data of one component in a batch. */
struct row_cells {
	const struct table_times *times;
	const struct bind *bind;
	int64_t *const *columns;
	const uint8_t *state; /* [sample] */
	size_t base;	      /* index of the component's cells in all columns */
};

/* Is there a difference between sample s and the previous one? */
static inline bool has_predecessor(const struct row_cells *c, uint32_t s)
{
	return s > 0 && c->state[s - 1] & LP_PRESENT && !(c->state[s] & LP_FRESH) &&
		c->times->dt_s[s] > 0;
}

/* Does sample s have data for the metric? */
static inline bool has_value(const struct row_cells *c, uint32_t s)
{
	return c->state[s] & LP_PRESENT && c->times->wanted[s] &&
		!(c->bind->absolute && c->state[s] & LP_RELATIVE) &&
		(!c->bind->has_counters || has_predecessor(c, s));
}

/* Add samples one by one. */
static int row_add_samples(struct table_row *row, const struct row_cells *c, uint32_t first,
	uint32_t end, struct table_budget *budget)
{
	for (uint32_t s = first; s < end; s++) {
		int64_t slot = c->times->slots[s], wall = c->times->batch->wall_us[s];

		if (!has_value(c, s))
			continue;
		if (!row_goes_on(row, slot, wall, c->times->forever)) {
			int r = row_turn(row, slot, wall, budget);

			if (r < 0)
				return r;
		}
		row->last_wall = wall;
		bind_add(c->bind, c->columns, c->base + s, c->times->dt_s[s], &row->acc);
	}
	return 0;
}

/* Are all cells the same? Half of all disks do nothing, and some columns are always missing. */
static bool cells_same(const int64_t *cell, uint32_t n)
{
	return n < 2 || !memcmp(cell, cell + 1, (n - 1) * sizeof(*cell));
}

/* The sign bits of all cells and differences. */
static inline __attribute__((always_inline)) uint64_t cells_signs(const int64_t *cell, uint32_t n)
{
	uint64_t signs = (uint64_t)cell[0];

#pragma omp simd reduction(| : signs)
	for (uint32_t s = 1; s < n; s++)
		signs |= (uint64_t)cell[s] | ((uint64_t)cell[s] - (uint64_t)cell[s - 1]);
	return signs;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static uint64_t cells_signs_avx2(const int64_t *cell, uint32_t n)
{
	return cells_signs(cell, n);
}
#endif

/* Are these counters that only grow? If so, all differences and values are positive. */
static bool cells_rise(const int64_t *cell, uint32_t n)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2"))
		return !(cells_signs_avx2(cell, n) >> 63);
#endif
	return !(cells_signs(cell, n) >> 63);
}

/* Can differences be computed over any number of these cells at once? */
static bool cells_steady(const int64_t *cell, uint32_t n, bool optional)
{
	if (cells_same(cell, n))
		return cell[0] >= 0 || (optional && cell[0] == LP_MISSING);
	return cells_rise(cell, n);
}

/* Can the growth over several samples be computed at once? Yes, if the component is always present
 * and no counter is reset or wraps. An optional column must be present in all samples or in none.
 */
static bool row_is_steady(const struct row_cells *c)
{
	uint32_t n = c->times->batch->n_samples;
	uint8_t odd = 0;

	if (!c->bind->only_counters)
		return false;
	for (uint32_t s = 0; s < n; s++)
		odd |= c->state[s] ^ LP_PRESENT;
	for (uint32_t i = 0; !odd && i < c->bind->n_inputs; i++) {
		for (uint32_t k = 0; k < c->bind->inputs[i].n; k++) {
			const struct bind_term *t = &c->bind->inputs[i].terms[k];
			const int64_t *cell = c->columns[t->column] + c->base;

			if (!cells_steady(cell, n, t->optional))
				return false;
		}
	}
	return !odd;
}

/* The growth of one input over a segment, added to the previous sum. */
static double segment_growth(const struct row_cells *c, const struct bind_input *in,
	const struct table_segment *seg, double sum)
{
	for (uint32_t k = 0; k < in->n; k++) {
		const int64_t *cell = c->columns[in->terms[k].column] + c->base;

		sum += (double)(cell[seg->end - 1] - cell[seg->first - 1]);
	}
	return sum;
}

/* Add all samples of a segment of a steady row at once. The result is the same to the last bit as
 * if they were added one by one, because the growths are whole numbers and the times are added in
 * the same order. False: they are too large for that, and nothing was added. */
static bool acc_add_segment(
	struct bind_acc *acc, const struct row_cells *c, const struct table_segment *seg)
{
	double before[LP_METRIC_INPUTS_MAX];

	/* In place: a copy of all sums would take longer than the sums. */
	for (uint32_t i = 0; i < c->bind->n_inputs; i++) {
		before[i] = acc->in[i];
		acc->in[i] = segment_growth(c, &c->bind->inputs[i], seg, before[i]);
		if (!(acc->in[i] < EXACT_MAX)) {
			memcpy(acc->in, before, (i + 1) * sizeof(*before));
			return false;
		}
	}
	if (!acc->n)
		acc->dt_s = seg->dt_s;
	for (uint32_t s = seg->first; acc->n && s < seg->end; s++)
		acc->dt_s += c->times->dt_s[s];
	acc->n += seg->end - seg->first;
	return true;
}

static int row_add_segment(struct table_row *row, const struct row_cells *c,
	const struct table_segment *seg, struct table_budget *budget)
{
	int64_t slot = c->times->slots[seg->first], wall = c->times->batch->wall_us[seg->first];

	if (!seg->regular)
		return row_add_samples(row, c, seg->first, seg->end, budget);
	if (!row_goes_on(row, slot, wall, c->times->forever)) {
		int r = row_turn(row, slot, wall, budget);

		if (r < 0)
			return r;
	}
	if (!acc_add_segment(&row->acc, c, seg)) {
		/* The slot has begun: its first sample is not a repeat. */
		row->last_wall = INT64_MIN;
		return row_add_samples(row, c, seg->first, seg->end, budget);
	}
	row->last_wall = c->times->batch->wall_us[seg->end - 1];
	return 0;
}

int table_row_add(struct table_row *row, const struct table_times *times, const struct bind *bind,
	const struct lp_batch_kind *kind, uint32_t at, struct table_budget *budget)
{
	size_t base = (size_t)at * times->batch->cap_samples;
	struct row_cells c = {.times = times,
		.bind = bind,
		.columns = kind->columns,
		.state = kind->state + base,
		.base = base};
	int r = 0;

	row_bind(row, bind);
	if (!row_is_steady(&c))
		r = row_add_samples(row, &c, 0, times->batch->n_samples, budget);
	else
		for (uint32_t i = 0; r == 0 && i < times->n_segments; i++)
			r = row_add_segment(row, &c, &times->segments[i], budget);
	/* The slot may continue in the next batch, unless that has another schema or source. So its
	 * value is stored now, and again when it has grown. */
	return r < 0 ? r : row_put(row, budget);
}

/* An empty row takes over everything. */
static int row_take(struct table_row *row, struct table_row *later, struct table_budget *budget)
{
	struct lp_identity *component = row->component;
	struct table_pages pages = row->pages;
	int r = pages_join(&pages, &later->pages, budget);

	*row = *later;
	row->component = component;
	row->pages = pages;
	return r;
}

/* Does the current slot continue in the first slot of `later`? */
static bool head_continues(const struct table_row *row, const struct table_head *head, bool forever)
{
	return head->state != HEAD_NONE && row->metric == head->metric &&
		row->shape == head->shape &&
		row_goes_on(row, head->slot, head->first_wall, forever);
}

int table_row_join(
	struct table_row *row, struct table_row *later, bool forever, struct table_budget *budget)
{
	struct table_head head = later->head;
	struct bind_acc acc = row->acc;
	bool continues = head_continues(row, &head, forever);
	int r;

	if (head.state == HEAD_NONE) { /* no sample had data, but their meaning counts */
		if (row->metric != later->metric || row->shape != later->shape)
			row_close(row);
		row->metric = later->metric;
		row->shape = later->shape;
		return 0;
	}
	if (row->head.state == HEAD_NONE)
		return row_take(row, later, budget);
	r = pages_join(&row->pages, &later->pages, budget);
	if (r < 0)
		return r;
	if (continues) {
		bind_acc_join(&acc, head.state == HEAD_OPEN ? &later->acc : &head.acc, row->shape);
		row->acc = acc;
		if (!head.replaced)
			r = row_put(row, budget);
	}
	if (!continues || head.state == HEAD_CLOSED) {
		row->acc = later->acc;
		row->slot = later->slot;
		row->open = later->open;
		row->metric = later->metric;
		row->shape = later->shape;
	}
	row->last_wall = later->last_wall;
	return r;
}
