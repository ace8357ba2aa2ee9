/* The internals of an engine. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "base/slices.h"
#include "engine/lane.h"
#include "engine/setup.h"
#include "explain/processes.h"
#include "explain/semantic_reader.h"
#include "explain/surroundings.h"
#include <limpet/engine.h>

#define ENGINE_LANES_MAX 4

struct lp_engine {
	struct setup setup;
	int64_t interval_us;
	int64_t watermark_us;  /* INT64_MIN: never advanced */
	int64_t reached_us;    /* the watermark up to which the lanes have done their work */
	struct slices *slices; /* of that work; NULL: it is done at once */
	int failed;	       /* the error of that work, 0 while there is none; its text: */
	struct lp_err failure;
	uint64_t n_late;
	struct lp_table_options table; /* selects which data the lanes gather */

	/* The horizons' lanes; or, if parameters were given by hand, `plain` alone: everything is
	 * compared at once, as in the definitions. */
	struct lane lanes[ENGINE_LANES_MAX];
	uint32_t n_lanes;
	int64_t fast_from_us; /* the finest lane begins here, later than the data; 0: it begins with
			       * the data */
	struct lp_table_builder *plain;
	struct lp_table_options plain_table;

	struct semantic_options logs_how;
	struct semantic_reader *logs;	  /* of system calls; NULL: not wanted */
	struct noted_processes processes; /* processes that remarks name */
	struct surroundings around;	  /* facts about links, arrays, jobs that were fed */
	struct lp_dataset *data; /* where the data comes from, and which of it could not be read;
				  * may be NULL */
};

/* The builders that take the data, for reading many files at the same time. Returns their
 * number. */
uint32_t engine_builders(struct lp_engine *e, struct lp_table_builder *ret[ENGINE_LANES_MAX]);

/* The end of most of the data: the time up to which observers can be compared. Files are collected
 * one after the other, so some have a few minutes more; an observer with more data than that was
 * really recorded for longer. INT64_MIN: there is no data. */
int engine_end(const struct lp_engine *e, int64_t *ret_us, struct lp_err *err);

/* lp_engine_verdict() with tables that read values on demand (model/table_view.h): a copy of all
 * samples of a large fleet would take gigabytes and seconds. The verdict is the same; it is valid
 * until the engine is fed or advanced. */
int engine_verdict_lazy(struct lp_engine *e, struct lp_verdict **ret, struct lp_err *err);

#endif
