/* The internals of the store of incidents. */
#ifndef SERVE_INCIDENTS_OWN_H
#define SERVE_INCIDENTS_OWN_H

#include "serve/db.h"
#include "serve/incidents.h"
#include <pthread.h>

/* An open incident. */
struct record {
	int64_t id;
	char *part, *cause, *level;
	char **components;
	uint32_t n_components;
	bool delivery;
	int64_t seen_us;   /* when it was last seen, by the watermark */
	char *other_cause; /* another cause in the last verdicts, and their number */
	unsigned n_other;
	bool taken; /* a sighting of this verdict belongs to it */
	bool on;    /* and it continues */
};

/* A problem without an open incident: it is new, or was over before it was seen. */
struct candidate {
	char *key;
	unsigned n;	/* consecutive verdicts */
	unsigned round; /* the last of these verdicts */
};

struct incidents {
	sqlite3 *db;
	pthread_mutex_t mutex;
	struct incidents_options opt;
	struct record *records;
	size_t n, cap;
	struct candidate *candidates;
	size_t n_candidates, cap_candidates;
	unsigned round;
	struct strmap past; /* part and beginning of problems that were over before they were seen,
			     * and are noted */
};

/* Call these with the lock held. */
int store_get(struct incidents *s, int64_t id, json_t **ret, struct lp_err *err);
int store_load(struct incidents *s, struct lp_err *err);
int store_say(struct incidents *s, int64_t id, const struct incident_word *word, int64_t now_us,
	struct lp_err *err);
void store_tell(struct incidents *s, enum incident_change change, int64_t id);
void record_release(struct record *r);
/* Add a record to the open ones, and take ownership of it. 0 or -ENOMEM. */
int record_add(struct incidents *s, struct record *r);

#endif
