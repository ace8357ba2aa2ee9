/* Values of a component and of its peers for plots, read from the archives. */
#ifndef SERVE_SERIES_H
#define SERVE_SERIES_H

#include "serve/snapshot.h"
#include <limpet/dataset.h>

#define SERIES_POINTS_DEFAULT 600
#define SERIES_POINTS_MAX 10000
#define SERIES_PEERS_MAX 32 /* from large groups, an even selection of this many */

/* The data of the last requests. A page requests the metrics of a component one after the other. */
struct series_cache;
struct series_cache *series_cache_new(void); /* NULL: out of memory */
void series_cache_free(struct series_cache *c);

struct series_ask {
	struct series_cache *cache; /* shared; only one request reads at a time */
	const struct snapshot *now; /* defines the peers */
	const char *dir;	    /* of archives */
	struct lp_dataset *data;    /* or these recordings */
	const char *component, *metric;
	int64_t since_us, until_us;
	uint32_t points; /* the maximum number */
};

/* Write {"component","metric","unit","group","peers","step_s","t","value","median","low","high"}.
 * Low and high are the 10th and the 90th percentile of the peers. -ENOENT: there is no such
 * component, or it has no such metric at that time. Pooled connections have values while they are
 * suspects. */
int series_write(FILE *out, const struct series_ask *ask, struct lp_err *err);

#endif
