/* The importer for the output of darshan-parser. It shows how long the calls of a job took, per
 * file, and on which OSTs the files are.
 *
 * A log has totals. They are spread evenly over the time between the first and the last call for a
 * file, and over the OSTs of the file, and then added up in steps.
 */
#include "base/array.h"
#include "base/hash.h"
#include "base/time.h"
#include "import/importer.h"
#include "import/text_source.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 16
#define STEPS_MAX 1000
#define OSTS_MAX 2048 /* of a file */
#define RECORDS_MAX 4000000
#define COMPONENTS_MAX 20000
#define STEP_MIN_S 1.0

enum { READ_LATENCY, WRITE_LATENCY, READ_BYTES, WRITE_BYTES, N_OUT };

static const struct lp_column columns[N_OUT] = {
	[READ_LATENCY] = {"read_latency", "ms/MB", LP_REAL, 0},
	[WRITE_LATENCY] = {"write_latency", "ms/MB", LP_REAL, 0},
	[READ_BYTES] = {"read_bytes", "bytes/s", LP_REAL, 0},
	[WRITE_BYTES] = {"write_bytes", "bytes/s", LP_REAL, 0},
};

static const struct lp_schema schemas[] = {
	{"ost", columns, N_OUT},
	{"rank", columns, N_OUT},
};

enum { KIND_OST, KIND_RANK };
enum { SIDE_READ, SIDE_WRITE, SIDES };

/* The I/O of one rank on one file. */
struct record {
	int64_t rank; /* -1: all ranks together */
	double bytes[SIDES], seconds[SIDES], begin[SIDES], end[SIDES];
	uint32_t *osts;
	size_t n_osts, cap_osts;
	char *file_system; /* the last part of its mount point; NULL: unknown */
};

/* An OST or a rank in the result, per step. */
struct target {
	int kind;
	char *observer, *name;
	double *sums; /* [step][seconds of reading, of writing, bytes read, written] */
};

struct darshan {
	double start_s, end_s; /* of the job, since 1970 */
	char job[64];
	struct strmap by_key; /* "rank record" */
	struct record *records;
	size_t n, cap;
	struct strmap target_by_key;
	struct target *targets;
	size_t n_targets, cap_targets;
	double step_s;
	size_t n_steps, at_step;
	bool summed;
};

static void darshan_release(void *state)
{
	struct darshan *d = state;

	for (size_t i = 0; i < d->n; i++) {
		free(d->records[i].osts);
		free(d->records[i].file_system);
	}
	for (size_t i = 0; i < d->n_targets; i++) {
		free(d->targets[i].observer);
		free(d->targets[i].name);
		free(d->targets[i].sums);
	}
	free(d->records);
	free(d->targets);
	strmap_release(&d->by_key);
	strmap_release(&d->target_by_key);
}

static void comment_take(struct darshan *d, const char *line)
{
	if (!strncmp(line, "# start_time:", 13))
		d->start_s = strtod(line + 13, NULL);
	else if (!strncmp(line, "# end_time:", 11))
		d->end_s = strtod(line + 11, NULL);
	else
		sscanf(line, "# jobid: %63s", d->job);
}

static int out_of_memory(struct lp_err *err)
{
	return lp_err_sys(err, -ENOMEM, "cannot read a log of Darshan");
}

/* The record of a rank and a file, added if it is new. NULL after an error. */
static struct record *record_find(
	struct darshan *d, const char *rank, const char *id, struct lp_err *err)
{
	char key[128];
	uint32_t at;

	snprintf(key, sizeof(key), "%.20s %.40s", rank, id);
	if (strmap_get(&d->by_key, key, &at))
		return &d->records[at];
	if (d->n == RECORDS_MAX) {
		lp_err_set(err, -E2BIG, "more than %d files and ranks", RECORDS_MAX);
		return NULL;
	}
	if (array_reserve(&d->records, &d->cap, d->n + 1, sizeof(*d->records)) < 0 ||
		strmap_put(&d->by_key, key, (uint32_t)d->n) < 0) {
		out_of_memory(err);
		return NULL;
	}
	d->records[d->n].rank = strtoll(rank, NULL, 10);
	return &d->records[d->n++];
}

/* "/mnt/scratch" is the file system "scratch". */
static int mount_take(struct record *r, const char *mount)
{
	const char *slash = strrchr(mount, '/');

	if (r->file_system)
		return 0;
	r->file_system = strdup(slash && slash[1] ? slash + 1 : "darshan");
	return r->file_system ? 0 : -ENOMEM;
}

static int ost_take(struct record *r, double value)
{
	if (!(value >= 0 && value < UINT32_MAX) || r->n_osts == OSTS_MAX)
		return 0;
	if (array_reserve(&r->osts, &r->cap_osts, r->n_osts + 1, sizeof(*r->osts)) < 0)
		return -ENOMEM;
	r->osts[r->n_osts++] = (uint32_t)value;
	return 0;
}

/* The place for a counter of a module that reads and writes; NULL for others. */
static double *counter_place(struct record *r, const char *counter)
{
	const struct {
		const char *name;
		double *place;
	} places[] = {
		{"BYTES_READ", &r->bytes[SIDE_READ]},
		{"BYTES_WRITTEN", &r->bytes[SIDE_WRITE]},
		{"F_READ_TIME", &r->seconds[SIDE_READ]},
		{"F_WRITE_TIME", &r->seconds[SIDE_WRITE]},
		{"F_READ_START_TIMESTAMP", &r->begin[SIDE_READ]},
		{"F_READ_END_TIMESTAMP", &r->end[SIDE_READ]},
		{"F_WRITE_START_TIMESTAMP", &r->begin[SIDE_WRITE]},
		{"F_WRITE_END_TIMESTAMP", &r->end[SIDE_WRITE]},
	};

	if (strncmp(counter, "POSIX_", 6) != 0)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		if (!strcmp(counter + 6, places[i].name))
			return places[i].place;
	}
	return NULL;
}

/* "POSIX  -1  6301063301082038805  POSIX_OPENS  2049  /path  /scratch  lustre" */
static int value_take(struct darshan *d, struct text_source *t, char *line, struct lp_err *err)
{
	char *words[WORDS_MAX], *end;
	size_t n = text_words(line, words, WORDS_MAX);
	struct record *r;
	double value, *place;
	bool ost;

	if (n < 5) {
		text_fault(t, "%zu columns where 8 are expected", n);
		return 0;
	}
	ost = !strncmp(words[3], "LUSTRE_OST_ID_", 14);
	if (strncmp(words[3], "POSIX_", 6) != 0 && !ost)
		return 0;
	value = strtod(words[4], &end);
	if (end == words[4] || *end || !isfinite(value)) {
		text_fault(t, "'%.40s' is not a number", words[4]);
		return 0;
	}
	r = record_find(d, words[1], words[2], err);
	if (!r)
		return err->code;
	place = ost ? NULL : counter_place(r, words[3]);
	if (place)
		*place = value;
	if (ost && ost_take(r, value) < 0)
		return out_of_memory(err);
	return n >= 8 && mount_take(r, words[n - 2]) < 0 ? out_of_memory(err) : 0;
}

static int target_find(struct darshan *d, int kind, const char *observer, const char *name,
	struct target **ret, struct lp_err *err)
{
	char key[256];
	uint32_t at;

	snprintf(key, sizeof(key), "%d %s %s", kind, observer, name);
	if (strmap_get(&d->target_by_key, key, &at)) {
		*ret = &d->targets[at];
		return 0;
	}
	if (d->n_targets == COMPONENTS_MAX)
		return lp_err_set(err, -E2BIG, "more than %d OSTs and ranks", COMPONENTS_MAX);
	if (array_reserve(&d->targets, &d->cap_targets, d->n_targets + 1, sizeof(*d->targets)) < 0)
		return out_of_memory(err);
	*ret = &d->targets[d->n_targets];
	**ret = (struct target){.kind = kind, .observer = strdup(observer), .name = strdup(name)};
	(*ret)->sums = calloc(d->n_steps * 2 * SIDES, sizeof(double));
	d->n_targets++;
	if (!(*ret)->observer || !(*ret)->name || !(*ret)->sums ||
		strmap_put(&d->target_by_key, key, (uint32_t)d->n_targets - 1) < 0)
		return out_of_memory(err);
	return 0;
}

/* Spread a share of one direction of a record over the steps. */
static void record_spread(
	const struct darshan *d, const struct record *r, int side, double share, double *sums)
{
	double begin = r->begin[side], end = r->end[side], span = end - begin;

	if (!(begin >= 0) || !(span >= 0) || !(r->bytes[side] > 0) || !(r->seconds[side] >= 0))
		return;
	for (size_t i = 0; i < d->n_steps; i++) {
		double low = (double)i * d->step_s, high = low + d->step_s, part;

		if (high <= begin && i + 1 < d->n_steps)
			continue;
		if (low > end)
			break;
		part = span > 0 ? (fmin(high, end) - fmax(low, begin)) / span : 1;
		part = part > 0 ? part * share : 0;
		sums[i * 2 * SIDES + (size_t)side] += r->seconds[side] * part;
		sums[i * 2 * SIDES + SIDES + (size_t)side] += r->bytes[side] * part;
		if (span <= 0)
			break;
	}
}

static int record_add(struct darshan *d, const struct record *r, int kind, const char *observer,
	const char *name, double share, struct lp_err *err)
{
	struct target *t;
	int found = target_find(d, kind, observer, name, &t, err);

	for (int side = 0; found == 0 && side < SIDES; side++)
		record_spread(d, r, side, share, t->sums);
	return found;
}

/* A shared file may have a record of rank -1 in one module, and only that one lists its OSTs. */
static const struct record *record_with_osts(const struct darshan *d, const char *key)
{
	char shared[128];
	const char *id = strchr(key, ' ');
	uint32_t at;

	snprintf(shared, sizeof(shared), "-1%s", id ? id : "");
	return strmap_get(&d->by_key, shared, &at) && d->records[at].n_osts ? &d->records[at]
									    : NULL;
}

/* Add everything up at the end of the file. */
static int all_sum(struct darshan *d, struct lp_err *err)
{
	double run_s = d->end_s - d->start_s;
	const char *key;
	size_t at = 0;
	uint32_t i;
	int r = 0;

	if (!(d->start_s > 0 && d->start_s < 1e11) || !(run_s >= 0 && run_s < 1e9))
		return lp_err_set(err, -EBADMSG,
			"there are no lines '# start_time:' and '# end_time:' as darshan-parser "
			"writes them");
	d->step_s = fmax(STEP_MIN_S, ceil(run_s / STEPS_MAX));
	d->n_steps = (size_t)(run_s / d->step_s) + 1;
	while (r == 0 && strmap_next(&d->by_key, &at, &key, &i)) {
		const struct record *rec = &d->records[i];
		const struct record *where = rec->n_osts ? rec : record_with_osts(d, key);
		char name[64];

		for (size_t k = 0; r == 0 && where && k < where->n_osts; k++) {
			snprintf(name, sizeof(name), "OST%04x", where->osts[k]);
			r = record_add(d, rec, KIND_OST,
				rec->file_system ? rec->file_system : "darshan", name,
				1.0 / (double)where->n_osts, err);
		}
		if (r == 0 && rec->rank >= 0) {
			snprintf(name, sizeof(name), "%" PRId64, rec->rank);
			r = record_add(d, rec, KIND_RANK, d->job[0] ? d->job : "job", name, 1, err);
		}
	}
	return r;
}

static double per_mb(double seconds, double bytes)
{
	return bytes > 0 ? seconds * 1e9 / bytes : NAN;
}

/* Deliver one step. 1: there are more. */
static int end_take(void *state, struct text_source *t, struct lp_err *err)
{
	struct darshan *d = state;
	int r = 0;

	if (!d->summed) {
		d->summed = true;
		r = all_sum(d, err);
		if (r < 0 || !d->n_targets)
			return r;
	}
	if (d->at_step == d->n_steps || !d->n_targets)
		return 0;
	r = text_sample(t, llround((d->start_s + (double)(d->at_step + 1) * d->step_s) * 1e6), err);
	for (size_t i = 0; r == 0 && i < d->n_targets; i++) {
		const struct target *g = &d->targets[i];
		const double *sums = g->sums + d->at_step * 2 * SIDES;
		const int64_t cells[N_OUT] = {[READ_LATENCY] = lp_cell_from_real(per_mb(
						      sums[SIDE_READ], sums[SIDES + SIDE_READ])),
			[WRITE_LATENCY] = lp_cell_from_real(
				per_mb(sums[SIDE_WRITE], sums[SIDES + SIDE_WRITE])),
			[READ_BYTES] = lp_cell_from_real(sums[SIDES + SIDE_READ] / d->step_s),
			[WRITE_BYTES] = lp_cell_from_real(sums[SIDES + SIDE_WRITE] / d->step_s)};

		r = text_put(t, &schemas[g->kind], g->observer, g->name, cells, err);
	}
	d->at_step++;
	return r < 0 ? r : 1;
}

static int line_take(void *state, struct text_source *t, char *line, struct lp_err *err)
{
	if (line[0] == '#') {
		comment_take(state, line);
		return 0;
	}
	return line[0] ? value_take(state, t, line, err) : 0;
}

static const struct text_format format = {
	.state_size = sizeof(struct darshan),
	.line = line_take,
	.end = end_take,
	.release = darshan_release,
	.nothing = "this log of Darshan has neither ranks with files of their own nor OSTs",
};

static int darshan_open(const char *path, const void *options, const struct lp_select *select,
	struct lp_warn *warn, struct lp_source **ret, struct lp_err *err)
{
	(void)options;
	(void)select;
	return text_source_open(&format, path, -1, NULL, warn, ret, err);
}

static enum import_match darshan_probe(const char *path, const unsigned char *head, size_t n)
{
	(void)path;
	return n > 2 && head[0] == '#' && memmem(head, n, "# darshan log version:", 22) ? IMPORT_YES
											: IMPORT_NO;
}

const struct importer importer_darshan = {
	.name = "darshan",
	.summary = "output of darshan-parser for the log of a job",
	.description = "Reads the output of 'darshan-parser LOG'. The time that a job's calls took "
		       "and the bytes that they moved are spread over the time between the first "
		       "and the last call for a file and over the OSTs of Lustre that the file is "
		       "on, and given per OST and, for files that only one rank uses, per rank.",
	.probe = darshan_probe,
	.open = darshan_open,
};
