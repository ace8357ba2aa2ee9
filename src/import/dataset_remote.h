/* Remote sources in a dataset: what one gives is fetched once, into an archive in a temporary file,
 * so that whoever reads the dataset several times gets the same data each time.
 */
#ifndef IMPORT_DATASET_REMOTE_H
#define IMPORT_DATASET_REMOTE_H

#include <limpet/archive.h>

/* What was fetched. Zero-initialise it. */
struct remote_copy {
	bool tried;
	int fd;		       /* of the archive, which has no name any more; -1: none */
	struct lp_err failure; /* why there is none, or why it ends early */
	int64_t interval_us;
};

/* How much of the source was fetched, 0 .. 1. May be NULL. */
struct remote_progress {
	void (*tell)(void *ctx, const char *what, double done);
	void *ctx;
};

/* Read the source to its end into a new archive. `copy->failure` says what went wrong; what came
 * before that is there. */
void remote_fetch(struct lp_source *source, const char *worse,
	const struct remote_progress *progress, struct remote_copy *copy);

/* Open what was fetched. */
int remote_open(const struct remote_copy *copy, const struct lp_select *select,
	struct lp_warn *warn, struct lp_source **ret, struct lp_err *err);

void remote_release(struct remote_copy *copy);

#endif
