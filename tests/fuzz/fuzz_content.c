/* Valid but malicious archives: limpet writes the file from the input, with correct frames and
 * checksums, and then does with it everything that an operator does: it reads it, diagnoses it, and
 * reports the verdict in every form. fuzz_archive would have to find such files through their
 * bytes; this target begins with them.
 *
 *     u8  the nominal interval, one of a table
 *     u8  number of components (2 to 9), and their kind in bit 7
 *     for each a name: u8 length (0 to 15), bytes
 *     then samples: u8 the change of the time, and a byte for the value of each component
 *
 * A byte represents a small number, or one of the worst values.
 */
#include "fuzz.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "report/verdict_hourly.h"
#include "report/verdict_html.h"
#include "report/verdict_json.h"
#include "report/verdict_text.h"
#include <errno.h>
#include <float.h>
#include <limpet/archive.h>
#include <limpet/diagnose.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMPONENTS_MAX 9
#define SAMPLES_MAX 400
#define START_US INT64_C(1700000000000000)

static const int64_t intervals[] = {1000000, 1, 0, -1, 15000000, INT64_MAX, INT64_MIN, 100000};

static const double reals[] = {0, -1, INFINITY, -INFINITY, NAN, DBL_MAX, -DBL_MAX, DBL_MIN,
	DBL_TRUE_MIN, 1e300, 1e-300, 1e15};
static const int64_t counts[] = {0, -1, INT64_MAX, INT64_MIN, INT32_MAX, UINT32_MAX,
	INT64_C(1) << 53, INT64_MAX - 1, 1, INT64_C(1) << 62, -2, INT64_C(1) << 40};
static const int64_t leaps[] = {0, -1000000, 1, INT64_C(3600000000), -INT64_C(86400000000),
	INT64_C(31536000000000), INT64_MAX, INT64_MIN, -START_US, 600000000, INT64_C(1) << 60,
	999999};

/* The last twelve byte values select the worst values. */
#define WORST 244

static const struct lp_column real_columns[] = {
	{"await", "ms", LP_REAL, 0}, {"wr_sec", "sectors/s", LP_REAL, 0}};
static const struct lp_column disk_columns[] = {{"ios", "requests", LP_COUNTER, 64},
	{"rd_ticks", "ms", LP_COUNTER, 32}, {"wr_ticks", "ms", LP_COUNTER, 64}};
static const struct lp_schema schemas[] = {{"disk", disk_columns, 3}, {"disk", real_columns, 2}};

struct content {
	struct lp_catalogue *catalogue;
	struct lp_batch *batch;
	uint32_t ids[COMPONENTS_MAX], rows[COMPONENTS_MAX], n;
	bool real;
	int64_t wall_us, counters[COMPONENTS_MAX];
};

static void must(bool good)
{
	if (!good)
		abort();
}

/* Components with the names in the input; false: two of them are the same. */
static bool components_add(struct content *c, struct cursor *in)
{
	struct lp_err err = {0};
	uint32_t schema;

	must(lp_catalogue_add_schema(c->catalogue, &schemas[c->real], &schema, &err) == 0);
	for (uint32_t i = 0; i < c->n; i++) {
		size_t len = cursor_u8(in) % 16, left = (size_t)(in->end - in->p);
		const uint8_t *bytes = cursor_bytes(in, len < left ? len : left);
		char observer[8], name[32];

		snprintf(observer, sizeof(observer), "h%u", i % 3);
		snprintf(name, sizeof(name), "%u%.*s", i, (int)(len < left ? len : left),
			bytes ? (const char *)bytes : "");
		if (lp_catalogue_add_component(
			    c->catalogue, schema, observer, name, "", &c->ids[i], &err) < 0)
			return false;
	}
	return true;
}

static void value_set(struct content *c, struct lp_batch_kind *k, uint32_t i, uint8_t byte)
{
	size_t cell = (size_t)c->rows[i] * c->batch->cap_samples + c->batch->n_samples - 1;

	if (byte == WORST - 1) /* it is absent */
		return;
	k->state[cell] = byte == WORST - 2 ? LP_PRESENT | LP_FRESH : LP_PRESENT;
	for (uint32_t col = 0; col < k->n_columns; col++) {
		if (c->real)
			k->columns[col][cell] = lp_cell_from_real(
				byte >= WORST ? reals[byte - WORST] : byte / (col + 1.0));
		else if (byte >= WORST)
			k->columns[col][cell] = counts[byte - WORST];
		else
			k->columns[col][cell] = c->counters[i] += byte;
	}
}

static void samples_add(struct content *c, struct cursor *in)
{
	struct lp_batch_kind *k;
	uint32_t n = 0;

	must(lp_batch_kind_get(c->batch, 0, schemas[c->real].n_columns, NULL, &k) == 0);
	for (uint32_t i = 0; i < c->n; i++)
		must(lp_batch_add_component(c->batch, k, c->ids[i], &c->rows[i]) == 0);
	while (in->p < in->end && n++ < SAMPLES_MAX) {
		uint8_t time = cursor_u8(in);
		int64_t leap = time >= WORST ? leaps[time - WORST] : 1000000;

		if (__builtin_add_overflow(c->wall_us, leap, &c->wall_us))
			c->wall_us = leap < 0 ? INT64_MIN : INT64_MAX;
		must(lp_batch_add_sample(c->batch, c->wall_us, (int64_t)n * 1000000) == 0);
		for (uint32_t i = 0; i < c->n && in->p < in->end; i++)
			value_set(c, k, i, cursor_u8(in));
	}
}

static bool file_write(const char *path, int64_t interval_us, const struct content *c)
{
	struct lp_archive_meta meta = {.observer = "", .interval_us = interval_us};
	struct lp_archive_writer *w;
	struct lp_err err = {0};

	unlink(path);
	if (lp_archive_create(path, &meta, &w, &err) < 0)
		return false;
	if (c->batch->n_samples &&
		lp_archive_write(w, c->catalogue, c->batch, LP_ARCHIVE_LOOSE, &err) < 0) {
		lp_archive_abandon(w);
		return false;
	}
	return lp_archive_close(w, &err) == 0;
}

static void report(const struct lp_verdict *v)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	must(out != NULL);
	verdict_print_text(out, v, NULL);
	verdict_print_json(out, v);
	verdict_write_html(out, v, NULL);
	verdict_print_hourly(out, v, 0);
	verdict_print_hourly_json(out, v, 0);
	must(fclose(out) == 0);
	must(size < 16 << 20); /* a page of a few components is not longer than this */
	free(text);
}

static void diagnose(const char *path)
{
	struct lp_diagnose_options options = {0};
	struct lp_verdict *v = NULL;
	struct lp_dataset *ds;
	struct lp_err err = {0};
	int r;

	if (lp_dataset_open(&path, 1, NULL, NULL, NULL, &ds, &err) < 0)
		return;
	r = lp_diagnose(ds, &options, &v, &err);
	if (r == 0 || r == -EBADMSG)
		must(v != NULL);
	if (v)
		report(v);
	lp_verdict_free(v);
	lp_dataset_close(ds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor in = {.p = data, .end = data + size};
	uint8_t interval = cursor_u8(&in), how = cursor_u8(&in);
	struct content c = {.n = 2 + (how & 0x7f) % (COMPONENTS_MAX - 1),
		.real = how >> 7,
		.wall_us = START_US,
		.catalogue = lp_catalogue_new(),
		.batch = lp_batch_new(SAMPLES_MAX)};
	char path[64];

	must(c.catalogue && c.batch);
	snprintf(path, sizeof(path), "/dev/shm/fuzz-content-%d.lpa", (int)getpid());
	if (!in.bad && components_add(&c, &in)) {
		samples_add(&c, &in);
		if (file_write(path, intervals[interval % 8], &c))
			diagnose(path);
		unlink(path);
	}
	lp_batch_free(c.batch);
	lp_catalogue_free(c.catalogue);
	return 0;
}
