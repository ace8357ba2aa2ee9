/* Facts around a suspect that are not compared with peers: a link that uses fewer lanes than it
 * has, an array that is being rebuilt, a path that is lost, a job that loads a server.
 *
 * Collectors record such facts as rows of separate kinds (docs/fields.md). A table of rules decides
 * which rows are worth a remark, and remarks go to the suspects that they concern: `context` of
 * struct lp_suspect.
 */
#ifndef EXPLAIN_SURROUNDINGS_H
#define EXPLAIN_SURROUNDINGS_H

#include <limpet/batch.h>
#include <limpet/dataset.h>
#include <limpet/verdict.h>

/* A remark about a component, with the time in which it was true. */
struct surrounding {
	char *observer, *kind, *name;
	char *members; /* names of the disks concerned, separated by commas; "": only `name` */
	char *text;    /* "link down-trained to x1 (of x4)" */
	uint32_t rule;
	int64_t first_us, last_us;
};

/* The I/O of a job on a server. */
struct surrounding_job {
	char *observer, *name;
	int64_t slice; /* number of the interval of JOB_SLICE_US */
	double bytes;
};

struct surroundings {
	struct surrounding *items;
	size_t n, cap;
	struct surrounding_job *jobs;
	size_t n_jobs, cap_jobs;
};

void surroundings_release(struct surroundings *s);

/* Take the facts of a batch. 0 or -ENOMEM. */
int surroundings_batch(
	struct surroundings *s, const struct lp_catalogue *c, const struct lp_batch *b);

/* Read all archives of a dataset. Their errors were already reported. */
int surroundings_read(struct surroundings *s, struct lp_dataset *ds, struct lp_err *err);

/* Add the remarks to suspects, warnings and absent components of an explained verdict, in `context`
 * and as evidence, and to their incidents. 0 or -ENOMEM. */
int surroundings_tell(const struct surroundings *s, struct lp_verdict *v);

#endif
