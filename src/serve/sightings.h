/* The current problems: the incidents and warnings of a verdict, and servers that are silent, late,
 * or have a wrong clock. incidents.h compares them with earlier problems.
 */
#ifndef SERVE_SIGHTINGS_H
#define SERVE_SIGHTINGS_H

#include "serve/observers.h"
#include <jansson.h>
#include <limpet/err.h>
#include <limpet/verdict.h>

struct topology;

/* Causes of incidents that are not in a verdict. */
#define CAUSE_SILENT "silent"
#define CAUSE_LATE "late"
#define CAUSE_CLOCK "clock"

struct sighting {
	char *part;  /* "oss5/disk:sdb", "observer:oss5", "controller:ddn12a" */
	char *cause; /* "disk-busy" */
	char *what;  /* one sentence without the full stop */
	char *observer;
	const char *level;		    /* "critical", "warning"; static */
	double ratio, severity, confidence; /* NaN: none */
	int64_t first_us, last_us;	    /* last_us: for a delivery, the current time */
	int64_t first_error_us;		    /* -1: the onset is unknown */
	char **components;
	json_t *details; /* "components", "metrics", "evidence", and maybe "functions", "do" */
	uint32_t n_components;
	bool ended;    /* it was over before the data ended */
	bool delivery; /* about the delivery of data, not about its contents */
};

/* Zero-initialise it. */
struct sightings {
	struct sighting *items;
	size_t n, cap;
};

void sightings_release(struct sightings *s);

/* Add the incidents of a verdict. Servers that `observers` (may be NULL) knows to be silent are
 * left out: sightings_add_observers() reports them. 0 or -ENOMEM. */
int sightings_add_verdict(
	struct sightings *s, const struct lp_verdict *v, const struct observers *observers);

/* Add servers that are silent, late, or have a wrong clock at `now_us`. If all servers of a part
 * are silent, that is one sighting about the part. 0 or -ENOMEM. */
int sightings_add_observers(
	struct sightings *s, const struct observers *o, const struct topology *t, int64_t now_us);

/* The largest part that a server belongs to according to the topology: "rack:r1" in `buf`; false:
 * there is none. */
bool sightings_part_of(const struct topology *t, const char *observer, char *buf, size_t size);

/* The same for a component; only parts that are larger than a server. */
bool sightings_part_of_component(
	const struct topology *t, const struct lp_identity *component, char *buf, size_t size);

#endif
