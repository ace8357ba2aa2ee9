#include "engine/lane.h"

#include "base/cleanup.h"
#include "base/slices.h"
#include "base/time.h"
#include "detect/weigh.h"
#include "engine/windows.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int lane_init(struct lane *l, const struct horizon *h, const struct detect_options *opt,
	const struct lp_table_options *table, bool bounded, int64_t interval_us, struct lp_err *err)
{
	*l = (struct lane){.horizon = h,
		.keeps_all = h->keeps_all && !bounded,
		.opt = opt,
		.params = horizon_params(h, interval_us),
		.table = *table,
		.origin = INT64_MAX,
		.final = INT64_MIN};
	l->table.step_us = l->params.step_us;
	l->table.narrow = true; /* comparing needs no more digits, and saves memory for large
				 * fleets */
	return lp_table_builder_new(&l->table, &l->builder, err);
}

void lane_release(struct lane *l)
{
	window_view_release(&l->last_view);
	lp_table_builder_free(l->builder);
	peers_free(l->peers);
	discover_memory_release(&l->memory);
	kept_votes_release(&l->kept);
	history_release(&l->history);
	episodes_release(&l->episodes);
	*l = (struct lane){0};
}

int64_t lane_age_us(const struct lane *l)
{
	struct table_part part = {.first = l->origin, .end = l->final + 1, .align = 1};
	_cleanup_(table_grid_release) struct table_grid grid = {0};
	int64_t step = l->params.step_us, before = 0;
	int64_t age_us = l->final < l->origin ? 0 : (part.end - part.first) * step;

	if (age_us <= l->horizon->span_us || table_grid_make(l->builder, &part, &grid) < 0)
		return age_us;
	/* Days without any data do not count. */
	for (uint32_t i = 0; i < grid.n_cuts; i++) {
		int64_t gap_us = (grid.cuts[i].skipped - before) * step;

		before = grid.cuts[i].skipped;
		age_us -= gap_us > US_PER_DAY ? gap_us : 0;
	}
	return age_us;
}

int64_t lane_since_us(const struct lane *l)
{
	return (l->final + 1) * l->params.step_us - l->horizon->span_us;
}

static int64_t span_slots(const struct lane *l)
{
	return (int64_t)horizon_n_windows(l->horizon, &l->params) * l->params.win_shift;
}

int64_t lane_window_origin(const struct lane *l)
{
	return -floor_div(-(l->origin - l->params.win_size / 2), l->params.win_shift);
}

/* The last window that is complete. */
static int64_t window_last(const struct lane *l)
{
	return floor_div(l->final - l->params.win_size + 1, l->params.win_shift);
}

/* The slot after the last one of a window. */
static int64_t window_end(const struct lane *l, int64_t window)
{
	return window * l->params.win_shift + l->params.win_size;
}

/* The epoch at window `epoch`: examine the span before it. */
static int lane_look(struct lane *l, int64_t epoch, struct lp_err *err)
{
	struct table_part part = {.end = window_end(l, epoch - 1), .lazy = true};
	struct comparison_past past = {.always = true, .kept = &l->kept};
	_cleanup_(view_release) struct view view = {0};
	struct peers *peers;
	int r;

	part.first = (epoch - 1) * l->params.win_shift - span_slots(l);
	if (part.first < lane_window_origin(l) * l->params.win_shift)
		part.first = lane_window_origin(l) * l->params.win_shift;
	part.seen_from = part.first;
	r = view_make(l->builder, &part, l->opt->hosts, &view, err);
	if (r < 0)
		return r;
	past.origin = l->origin - part.first;
	past.first_window = part.first / l->params.win_shift;
	r = peers_look(view.v, l->opt, &l->params, &past, part.seen_from, &l->memory, l->team,
		&peers, err);
	view.v = NULL;
	if (r < 0)
		return r;
	if (kept_votes_turn(&l->kept) < 0)
		kept_votes_release(&l->kept);
	slices_rest();
	window_view_release(&l->last_view);
	peers_free(l->peers);
	slices_rest();
	l->peers = peers;
	l->looked = part.end;
	return 0;
}

/* Is there anything at all in the windows `first` .. `end - 1`? Nights and weekends may be empty.
 */
static bool lane_any(const struct lane *l, int64_t first, int64_t end)
{
	return table_builder_any(l->builder, first * l->params.win_shift, window_end(l, end - 1));
}

/* The number of windows `first` .. `end - 1` with data. */
static uint32_t windows_with_data(const struct lane *l, int64_t first, int64_t end)
{
	uint32_t n = 0;

	while (first < end) {
		int64_t next;

		if (lane_any(l, first, first + 1)) {
			first++;
			n++;
			continue;
		}
		next = table_builder_next(l->builder, first * l->params.win_shift);
		if (next == INT64_MAX)
			break;
		first = floor_div(next - l->params.win_size, l->params.win_shift) + 1;
	}
	return n;
}

uint32_t lane_n_before(const struct lane *l, int64_t first)
{
	return l->n_left + windows_with_data(l, l->left, first);
}

/* Compare the windows before `end`, and keep the results. */
static int lane_keep(struct lane *l, int64_t end, struct lp_err *err)
{
	int r = 0;

	if (l->done < end && lane_any(l, l->done, end))
		r = windows_compare(l, l->done, end, err);

	if (r == 0 && l->done < end)
		l->done = end;
	return r;
}

/* Forget data that has left the span. */
static int lane_forget(struct lane *l, struct lp_err *err)
{
	int64_t window = l->done - horizon_n_windows(l->horizon, &l->params);
	int64_t slot = window * l->params.win_shift;
	int r = 0;

	if (l->keeps_all)
		return 0;
	window_view_release(&l->last_view);
	l->n_left = lane_n_before(l, window);
	l->left = window > l->left ? window : l->left;
	r = history_trim(&l->history, window, slot);
	if (r == 0)
		r = table_builder_trim(l->builder, slot - (int64_t)windows_context(l));
	return r < 0 ? lp_err_sys(err, r, "cannot compare") : 0;
}

/* At an epoch, keep findings, determine peers again, and forget old data. If there was no data
 * since the last one, nothing changes, except that the findings of the first epoch are kept: they
 * may leave the span before data arrives again. */
static int lane_turn(struct lane *l, struct lp_err *err)
{
	bool any = lane_any(l, l->done - HORIZON_EPOCH, l->done);
	int r = 0;

	if (!l->keeps_all && (any || !l->noted)) {
		r = windows_note(l, err);
		l->noted = true;
	}
	if (r == 0 && any)
		r = lane_look(l, l->done, err);
	return r < 0 ? r : lane_forget(l, err);
}

/* The work between windows, at `done`: an epoch, a check for new components, or nothing. */
static int lane_pause(struct lane *l, struct lp_err *err)
{
	if (l->done % HORIZON_EPOCH_NEW == 0)
		table_builder_share(l->builder, l->done * l->params.win_shift);
	if (l->done % HORIZON_EPOCH == 0)
		return lane_turn(l, err);
	if (l->done % HORIZON_EPOCH_NEW == 0 &&
		table_builder_born(l->builder, l->looked, window_end(l, l->done - 1)))
		return lane_look(l, l->done, err);
	return 0;
}

/* If there was no data for an epoch, and the following windows are empty, continue at the epoch
 * before the next data. The gap may be years. */
static int lane_skip(struct lane *l, int64_t last, struct lp_err *err)
{
	int64_t next, window;

	if (l->done % HORIZON_EPOCH || lane_any(l, l->done - HORIZON_EPOCH, l->done))
		return 0;
	next = table_builder_next(l->builder, l->done * l->params.win_shift);
	window = next == INT64_MAX ? last + 1
				   : floor_div(next - l->params.win_size, l->params.win_shift);
	window = window > last + 1 ? last + 1 : window;
	window = floor_div(window, HORIZON_EPOCH) * HORIZON_EPOCH;
	if (window <= l->done)
		return 0;
	l->done = window;
	return lane_forget(l, err);
}

/* The end of the windows that are compared together: the next place where an epoch is possible. */
static int64_t windows_next(int64_t window)
{
	return (floor_div(window, HORIZON_EPOCH_NEW) + 1) * HORIZON_EPOCH_NEW;
}

/* The first epoch, once there are enough windows for it; 0: not yet. */
static int lane_begin(struct lane *l, struct lp_err *err)
{
	int64_t first = lane_window_origin(l);
	int64_t epoch = -floor_div(-(first + HORIZON_EPOCH), HORIZON_EPOCH) * HORIZON_EPOCH;
	int r;

	if (window_last(l) + 1 < epoch)
		return 0;
	r = lane_look(l, epoch, err);
	l->done = l->left = first;
	/* Compare a few windows at a time, as later. All at once would need memory for all of their
	 * slots. */
	while (r == 0 && l->done < epoch) {
		int64_t next = windows_next(l->done);

		r = lane_keep(l, next < epoch ? next : epoch, err);
	}
	return r < 0 ? r : 1;
}

int lane_advance(struct lane *l, int64_t watermark_us, struct lp_err *err)
{
	int64_t final = floor_div(watermark_us - l->params.step_us / 2, l->params.step_us);
	int64_t first, end, last;
	int r = 1;

	if (final <= l->final)
		return 0;
	l->final = final;
	if (l->origin == INT64_MAX && table_builder_span(l->builder, &first, &end) &&
		first <= final)
		l->origin = first;
	if (l->origin == INT64_MAX)
		return 0;
	if (!l->peers)
		r = lane_begin(l, err);
	last = window_last(l);
	while (r > 0 && l->done <= last) {
		int64_t next = windows_next(l->done);

		r = lane_keep(l, next <= last ? next : last + 1, err);
		if (r == 0)
			r = lane_pause(l, err);
		if (r == 0)
			r = lane_skip(l, last, err);
		r = r < 0 ? r : 1;
	}
	return r < 0 ? r : 0;
}

/* The verdict before the first epoch: all windows so far, compared by their own data. */
static int verdict_first(
	const struct lane *l, bool lazy, struct lp_verdict **ret, struct lp_err *err)
{
	struct table_part part = {.first = lane_window_origin(l) * l->params.win_shift,
		.end = l->final + 1,
		.seen_from = INT64_MIN,
		.lazy = lazy};
	struct comparison_past past = {0};
	_cleanup_(view_release) struct view view = {0};
	struct findings fs = {0};
	int r;

	part.seen_from = part.first;
	r = view_make(l->builder, &part, l->opt->hosts, &view, err);
	if (r == 0 && view_presence(&view) < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot compare");
	if (r < 0)
		return r;
	view.v->params = l->params;
	past.origin = l->origin - part.first;
	past.presence = &view.presence;
	r = verdict_group(view.v, l->opt, err);
	if (r == 0)
		r = detect_compare(
			view.v, l->opt, &past, horizon_n_windows(l->horizon, &l->params), &fs, err);
	if (r < 0) {
		free(fs.items);
		return r;
	}
	r = detect_conclude(view.v, l->opt, false, &fs, err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(view.v);
	return 0;
}

/* The first window may begin before the data does: that time is not reported. */
static void verdict_clip(const struct lane *l, struct lp_verdict *v)
{
	int64_t first = v->n_tables ? v->tables[0]->start_us / l->params.step_us : l->origin;
	uint32_t n = l->origin > first ? (uint32_t)(l->origin - first) : 0;

	for (uint32_t t = 0; n && t < v->n_tables; t++)
		table_clip(v->tables[t], n);
	for (uint32_t i = 0; n && i < v->n_series; i++) {
		struct lp_series *s = &v->series[i];

		for (uint32_t w = 0; w < s->n_windows; w++) {
			s->first[w] = s->first[w] > n ? s->first[w] - n : 0;
			s->last[w] = s->last[w] > n ? s->last[w] - n : 0;
		}
	}
}

int lane_verdict(const struct lane *l, bool lazy, struct lp_verdict **ret, struct lp_err *err)
{
	int r;

	if (l->final < l->origin)
		return lp_err_set(err, -ENODATA, "there is no data");
	r = l->peers ? windows_verdict(l, lazy, ret, err) : verdict_first(l, lazy, ret, err);
	if (r < 0)
		return r;
	verdict_clip(l, *ret);
	(*ret)->params = l->params;
	(*ret)->method = l->opt->measure->name;
	return 0;
}

int lane_past(const struct lane *l, struct episodes *ret, struct lp_err *err)
{
	return episodes_add_all(ret, &l->episodes) < 0 ? lp_err_sys(err, -ENOMEM, "cannot compare")
						       : 0;
}

int lane_episodes(const struct lane *l, struct episodes *ret, struct lp_err *err)
{
	struct lp_verdict *v = NULL;
	int r = lane_verdict(l, true, &v, err);

	if (r == -ENODATA)
		return 0;
	if (r == 0 && (episodes_add_all(ret, &l->episodes) < 0 || windows_episodes(l, v, ret) < 0))
		r = lp_err_sys(err, -ENOMEM, "cannot compare");
	lp_verdict_free(v);
	return r;
}
