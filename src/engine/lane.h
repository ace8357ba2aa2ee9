/* A horizon at work: its data on its grid, its peer groups, and the results of its windows.
 *
 * Windows are at fixed times: window w covers the slots w * win_shift .. w * win_shift + win_size -
 * 1, and slots are numbers of steps since 1970. Each is compared once, with the peer groups and
 * thresholds of the last epoch, and kept. Before the first epoch nothing is kept: every request for
 * a verdict compares all windows so far, by their own data.
 */
#ifndef ENGINE_LANE_H
#define ENGINE_LANE_H

#include "detect/compare/kept_votes.h"
#include "detect/detect.h"
#include "engine/episodes.h"
#include "engine/history.h"
#include "engine/horizons.h"
#include "engine/view.h"

/* The view in which windows are compared. It is reused while the components stay the same. */
struct window_view {
	struct view view;  /* with the groups of the last epoch */
	uint32_t **tracks; /* [group * n_tables + table], [member]; NULL: not known yet */
	size_t n_tracks;
};

struct lane {
	const struct horizon *horizon;
	const struct detect_options *opt; /* complete */
	struct team *team; /* the processes that compare together (together.h); NULL: this one is
			    * alone */
	bool keeps_all;	   /* windows and samples stay as long as the engine */
	struct lp_params params;
	struct lp_table_options table;
	struct lp_table_builder *builder;
	int64_t origin;	     /* the first slot of any data; INT64_MAX: none so far */
	int64_t final;	     /* the last slot before the watermark */
	int64_t done;	     /* the first window that is not kept yet */
	int64_t looked;	     /* the slot after the last one in which peers were determined */
	int64_t left;	     /* the first window that has not left the span */
	uint32_t n_left;     /* windows with data that have */
	bool noted;	     /* findings were kept as episodes since the first epoch */
	struct peers *peers; /* as of the last epoch; NULL: there has been none */
	struct window_view last_view;  /* of the last windows that were compared since the epoch */
	struct discover_memory memory; /* earlier decisions about observers */
	struct kept_votes kept;	       /* the votes from which the last epoch learnt */
	struct history history;
	struct episodes episodes; /* findings that have left the span since */
};

/* Initialise a lane. `table` selects the data to gather; this function sets its step. `bounded`:
 * forget data that leaves the span, on all horizons. `l` must not move in memory. */
int lane_init(struct lane *l, const struct horizon *h, const struct detect_options *opt,
	const struct lp_table_options *table, bool bounded, int64_t interval_us,
	struct lp_err *err);
void lane_release(struct lane *l);

/* Process all data up to `watermark_us`, which has arrived. */
int lane_advance(struct lane *l, int64_t watermark_us, struct lp_err *err);

/* The first window of which at least half may have values. */
int64_t lane_window_origin(const struct lane *l);

/* The number of windows with data before window `first` of the span. */
uint32_t lane_n_before(const struct lane *l, int64_t first);

/* The length of the data before the watermark. */
int64_t lane_age_us(const struct lane *l);

/* The beginning of the span. */
int64_t lane_since_us(const struct lane *l);

/* The verdict on the span: tables, groups, series, findings judged by load, notes. `lazy`: its
 * tables read values on demand (model/table_view.h), and only until the lane is advanced. -ENODATA:
 * there is no data. */
int lane_verdict(const struct lane *l, bool lazy, struct lp_verdict **ret, struct lp_err *err);

/* Findings that have left the span. Zero-initialise `ret`. */
int lane_past(const struct lane *l, struct episodes *ret, struct lp_err *err);

/* All findings, including those that have left the span, as episodes. Zero-initialise `ret`. */
int lane_episodes(const struct lane *l, struct episodes *ret, struct lp_err *err);

#endif
