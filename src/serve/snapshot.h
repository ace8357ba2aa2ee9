/* The state at one moment, for all requests until the next snapshot: the verdict as JSON, the
 * servers, and the components with their ratio to their peers. It never changes and is
 * reference-counted.
 */
#ifndef SERVE_SNAPSHOT_H
#define SERVE_SNAPSHOT_H

#include "serve/observers.h"
#include <limpet/verdict.h>
#include <stdio.h>

struct topology;

enum snapshot_level { SNAPSHOT_OK = 0, SNAPSHOT_WARNING, SNAPSHOT_CRITICAL };

struct snapshot_component {
	struct lp_identity *id;
	uint32_t group;	  /* UINT32_MAX: none */
	double ratio;	  /* its worst current ratio to its peers; NaN: nothing was compared */
	uint32_t metric;  /* the metric of this ratio */
	uint64_t metrics; /* bit mask of its metrics */
	enum snapshot_level level;
};

struct snapshot_server {
	char *name, *group; /* group: from the topology; "": none */
	enum observer_state state;
	enum snapshot_level level;
	double ratio;
	uint32_t worst; /* component; UINT32_MAX: none */
	int64_t last_us, heard_us, skew_us;
	uint64_t n_samples;
};

/* A suspect and its peers, with data from the engine, for components that are in no archive because
 * they are pooled from others. */
struct snapshot_line {
	uint32_t component, metric; /* numbers */
	uint32_t n;
	double *t; /* seconds since 1970 */
	double *own, *median, *low, *high;
	uint32_t n_peers;
	double step_s;
};

#define SNAPSHOT_METRICS_MAX 64

struct snapshot {
	int refs;
	int64_t watermark_us; /* INT64_MIN: no verdict */
	int64_t now_us;
	enum lp_status status;
	char *verdict; /* as `limpet diagnose --json` prints it; NULL: none */
	size_t verdict_size;
	char **metrics, **units;
	uint32_t n_metrics;
	char **groups;
	uint32_t n_groups;
	struct snapshot_component *components;
	uint32_t n_components;
	struct strmap component_index;
	struct snapshot_server *servers; /* sorted by group and name */
	uint32_t n_servers;
	struct snapshot_line *lines;
	size_t n_lines, cap_lines;
	char **notes;
	uint32_t n_notes;
	uint32_t n_suspects, n_warnings, n_absent;
	uint64_t n_late;      /* samples that came too late */
	uint32_t n_filled_in; /* servers of which some did in the last ten minutes */
	double verdict_s;     /* CPU time for the verdict */
};

/* Make a snapshot of a verdict (NULL: none yet) and the observers. NULL: out of memory. */
struct snapshot *snapshot_new(const struct lp_verdict *v, int64_t watermark_us,
	const struct observers *o, const struct topology *t, int64_t now_us);
struct snapshot *snapshot_ref(struct snapshot *s);
void snapshot_unref(struct snapshot *s);

const char *snapshot_level_name(enum snapshot_level level);

/* The number of servers in a state. */
uint32_t snapshot_count(const struct snapshot *s, enum observer_state state);

/* Write the JSON of the API: the whole fleet; or the servers that differ from those of `before`,
 * and return their number. */
void snapshot_write_fleet(FILE *out, const struct snapshot *s);
uint32_t snapshot_write_changes(FILE *out, const struct snapshot *s, const struct snapshot *before);

struct snapshot_query {
	const char *observer, *group, *text; /* NULL: any; `text` is part of the name */
	uint32_t limit;
};
void snapshot_write_components(FILE *out, const struct snapshot *s, const struct snapshot_query *q);
/* `hosts` is the data received from servers, sorted by name. */
struct ingest_host;
void snapshot_write_hosts(FILE *out, const struct snapshot *s, int64_t now_us,
	const struct ingest_host *hosts, size_t n_hosts);

#endif
