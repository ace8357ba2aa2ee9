/* The load of jobs on the targets of a Lustre server: job_stats. */
#include "base/array.h"
#include "base/cleanup.h"
#include "collect/lustre_stats.h"
#include "collect/roster.h"
#include "collect/tree.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define COUNTER LP_COUNTER, 64

/* A server has thousands of jobs per day; jobs beyond this number are one component, "other". */
#define JOBS_MAX 256

static const struct lp_column columns[LUSTRE_JOB_N] = {
	[LUSTRE_JOB_RD_BYTES] = {"rd_bytes", "bytes", COUNTER},
	[LUSTRE_JOB_WR_BYTES] = {"wr_bytes", "bytes", COUNTER},
	[LUSTRE_JOB_OPS] = {"ops", "requests", COUNTER},
};

static const struct lp_schema schema = {"job", columns, ARRAY_SIZE(columns)};

static const char *const patterns[] = {"/proc/fs/lustre/obdfilter/*/job_stats",
	"/proc/fs/lustre/mdt/*/job_stats", "/sys/kernel/debug/lustre/obdfilter/*/job_stats",
	"/sys/kernel/debug/lustre/mdt/*/job_stats", "/sys/fs/lustre/obdfilter/*/job_stats", NULL};

struct job {
	char name[PARSE_NAME_MAX + 1];
	int64_t values[LUSTRE_JOB_N];
	struct collect_row row;
	bool known, seen;
};

struct jobs {
	const struct collect_config *config;
	int64_t read_us; /* when job_stats was last read; -1: never */
	struct job items[JOBS_MAX + 1];
	unsigned n;
	const char *pattern; /* during a read */
};

static int count_one(void *ctx, const struct tree_match *m)
{
	(void)m;
	++*(unsigned *)ctx;
	return 0;
}

static int jobs_open(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	struct jobs *j;
	unsigned n = 0;

	for (const char *const *p = patterns; *p; p++)
		tree_walk(config->root, *p, count_one, &n);
	if (!n)
		return lp_err_set(err, -ENOENT, "there are no job statistics of Lustre here");
	j = calloc(1, sizeof(*j));
	if (!j)
		return lp_err_sys(err, -ENOMEM, "cannot collect job statistics");
	j->config = config;
	j->read_us = -1;
	*ret_state = j;
	return 0;
}

/* The job with this name, or the last entry, which combines all jobs that do not fit. */
static struct job *jobs_find(struct jobs *j, const char *name)
{
	struct job *job;

	for (unsigned i = 0; i < j->n; i++) {
		if (!strcmp(j->items[i].name, name))
			return &j->items[i];
	}
	if (j->n >= JOBS_MAX)
		name = "other";
	if (j->n > JOBS_MAX)
		return &j->items[JOBS_MAX];
	job = &j->items[j->n++];
	*job = (struct job){0};
	snprintf(job->name, sizeof(job->name), "%s", name);
	return job;
}

/* Add the jobs of one target. */
static int jobs_add_target(void *ctx, const struct tree_match *m)
{
	struct jobs *j = ctx;
	char path[2 * PARSE_NAME_MAX + 64];
	struct lustre_job found;
	struct procfile f;
	const char *p;

	if (!tree_path(j->pattern, m, path, sizeof(path)) ||
		procfile_open(&f, j->config->root, path, NULL) < 0)
		return 0;
	p = procfile_read_records(&f, NULL) == 0 ? f.text : "";
	while (lustre_parse_job(&p, &found)) {
		struct job *job = jobs_find(j, found.name);

		job->seen = true;
		for (unsigned i = 0; i < LUSTRE_JOB_N; i++)
			job->values[i] += found.values[i];
	}
	procfile_close(&f);
	return 0;
}

/* Remove jobs that ended some minutes ago, so that others can take their places. */
static void jobs_sweep(struct jobs *j)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < j->n; i++) {
		if (j->items[i].seen)
			j->items[kept++] = j->items[i];
	}
	j->n = kept;
}

static void jobs_read(struct jobs *j)
{
	for (unsigned i = 0; i < j->n; i++) {
		j->items[i].seen = false;
		memset(j->items[i].values, 0, sizeof(j->items[i].values));
	}
	for (const char *const *p = patterns; *p; p++) {
		j->pattern = *p;
		tree_walk(j->config->root, *p, jobs_add_target, j);
	}
	jobs_sweep(j);
}

static int job_store(struct jobs *j, struct job *job, struct collect_sink *sink, struct lp_err *err)
{
	bool fresh = !job->known || !collect_holds(sink, &job->row);
	int r = fresh ? collect_add_named(
				sink, &schema, j->config->observer, job->name, "", &job->row, err)
		      : 0;

	if (r < 0)
		return r;
	job->known = true;
	return collect_store(sink, &job->row, fresh, job->values, err);
}

static int jobs_sample(void *state, struct collect_sink *sink, struct lp_err *err)
{
	struct jobs *j = state;
	int64_t now_us = sink->batch->mono_us[sink->batch->n_samples - 1];
	int r = 0;

	if (j->read_us < 0 || *j->config->root->dir || now_us - j->read_us >= TREE_SLOW_US) {
		jobs_read(j);
		j->read_us = now_us;
	}
	for (unsigned i = 0; r == 0 && i < j->n; i++)
		r = job_store(j, &j->items[i], sink, err);
	return r;
}

static void jobs_close(void *state)
{
	free(state);
}

extern const struct collector collector_lustre_jobs;
const struct collector collector_lustre_jobs = {
	.name = "lustre_jobs",
	.summary = "jobs that use the targets of this Lustre server",
	.description =
		"Records, for each job in job_stats, the bytes that it read and wrote and its "
		"other requests, on all targets of this server together. It is read every ten "
		"seconds. Beyond 256 jobs the rest is one component, \"other\". Verdicts name the "
		"job that loads a target most.",
	.schema = &schema,
	.if_present = true,
	.open = jobs_open,
	.sample = jobs_sample,
	.close = jobs_close,
};
