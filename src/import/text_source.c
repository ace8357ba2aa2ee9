#include "import/text_source.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/safe_text.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "import/importer.h"
#include "import/unpack.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define BATCH_SAMPLES 300
#define WARNINGS_MAX 10
#define LINE_MAX_BYTES ((size_t)1 << 20)
#define INTERVALS 31 /* their median is the nominal interval */

struct text_source {
	struct lp_source base;
	const struct text_format *format;
	void *state;
	struct lp_warn *warn;
	FILE *file;
	char *line;
	size_t cap_line;
	uint64_t number; /* of the line */
	struct lp_batch *batch, *spare;
	struct lp_batch *ready; /* the next batch to deliver */
	struct strmap ids;	/* "schema observer name" */
	struct strbuf key;
	bool in_sample; /* rows can be added */
	bool at_end;	/* there are no more lines */
	bool ended;
	bool finished;	       /* the last batch was delivered, too */
	struct lp_err failure; /* why it ended */
	struct lp_err damage;  /* the same, known from the beginning */
	uint64_t n_samples, n_faults;
	char first_fault[256];
};

static void source_close(struct lp_source *base)
{
	struct text_source *t = (struct text_source *)base;

	if (t->format->release && t->state)
		t->format->release(t->state);
	free(t->state);
	if (t->file)
		fclose(t->file);
	free(t->line);
	lp_batch_free(t->batch);
	lp_batch_free(t->spare);
	strmap_release(&t->ids);
	strbuf_release(&t->key);
	lp_catalogue_free(base->catalogue);
	free(base->path);
	free(t);
}
DEFINE_CLEANUP(struct lp_source *, lp_source_close);

void text_fault(struct text_source *t, const char *fmt, ...)
{
	char text[256];
	int n = snprintf(text, sizeof(text), "line %" PRIu64 ": ", t->number);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, ap);
	va_end(ap);
	safe_text_make(text);
	if (t->n_faults++ == 0)
		memcpy(t->first_fault, text, sizeof(text));
	if (t->n_faults <= WARNINGS_MAX)
		lp_warn_raise(t->warn, "%s: %s", t->base.path, text);
}

/* The batch is full: deliver it, and begin the next one with its last sample. */
static int batch_turn(struct text_source *t)
{
	struct lp_batch *full = t->batch;

	if (!t->spare)
		t->spare = lp_batch_new(BATCH_SAMPLES + 1);
	if (!t->spare || lp_batch_carry(t->spare, full) < 0)
		return -ENOMEM;
	t->batch = t->spare;
	t->spare = full;
	t->ready = full;
	return 0;
}

int text_sample(struct text_source *t, int64_t wall_us, struct lp_err *err)
{
	int r = 0;

	t->in_sample = false;
	if (t->batch->n_samples && wall_us <= t->batch->wall_us[t->batch->n_samples - 1]) {
		text_fault(t, "this sample is not later than the one before it and is left out");
		return 0;
	}
	if (t->batch->n_samples == t->batch->cap_samples)
		r = batch_turn(t);
	if (r == 0)
		r = lp_batch_add_sample(t->batch, wall_us, wall_us);
	if (r < 0)
		return lp_err_sys(err, r, "cannot read %s", t->base.path);
	t->n_samples++;
	t->in_sample = true;
	return 0;
}

static int component_id(struct text_source *t, const struct lp_schema *schema, const char *observer,
	const char *name, uint32_t *ret_schema, uint32_t *ret, struct lp_err *err)
{
	int r = lp_catalogue_add_schema(t->base.catalogue, schema, ret_schema, err);

	if (r < 0)
		return r;
	strbuf_reset(&t->key);
	strbuf_printf(&t->key, "%u %s/%s", *ret_schema, observer, name);
	if (t->key.failed)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", t->base.path);
	if (strmap_get(&t->ids, t->key.text, ret))
		return 0;
	r = lp_catalogue_add_component(
		t->base.catalogue, *ret_schema, observer, name, "", ret, err);
	if (r == 0 && strmap_put(&t->ids, t->key.text, *ret) < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot read %s", t->base.path);
	return r;
}

static int row_find(struct lp_batch *b, struct lp_batch_kind *k, uint32_t id, uint32_t *ret)
{
	for (uint32_t i = 0; i < k->n_components; i++) {
		if (k->ids[i] == id) {
			*ret = i;
			return 0;
		}
	}
	return lp_batch_add_component(b, k, id, ret);
}

int text_put(struct text_source *t, const struct lp_schema *schema, const char *observer,
	const char *name, const int64_t *values, struct lp_err *err)
{
	struct lp_batch_kind *k;
	uint32_t schema_id, id, row = 0;
	size_t cell;
	int r;

	if (!t->in_sample)
		return 0;
	r = component_id(t, schema, observer, name, &schema_id, &id, err);
	if (r < 0)
		return r;
	r = lp_batch_kind_get(t->batch, schema_id, schema->n_columns, NULL, &k);
	if (r == 0)
		r = row_find(t->batch, k, id, &row);
	if (r < 0)
		return lp_err_sys(err, r, "cannot read %s", t->base.path);
	cell = (size_t)row * t->batch->cap_samples + t->batch->n_samples - 1;
	k->state[cell] = LP_PRESENT;
	for (uint32_t i = 0; i < schema->n_columns; i++)
		k->columns[i][cell] = values[i];
	return 0;
}

size_t text_words(char *line, char **words, size_t max)
{
	size_t n = 0;
	char *save = NULL;

	for (char *w = strtok_r(line, " \t", &save); w && n < max; w = strtok_r(NULL, " \t", &save))
		words[n++] = w;
	return n;
}

/* Read a line, but at most slightly more than the maximum: a file without line ends may be larger
 * than the memory. -1 at the end of the file. */
static ssize_t line_get(struct text_source *t)
{
	size_t n = 0;
	int c = 0;

	while (c != '\n' && n <= LINE_MAX_BYTES && (c = getc_unlocked(t->file)) != EOF) {
		if (array_reserve(&t->line, &t->cap_line, n + 2, 1) < 0)
			return -ENOMEM;
		t->line[n++] = (char)c;
	}
	if (n)
		t->line[n] = '\0';
	return n ? (ssize_t)n : -1;
}

/* A machine that crashes while it writes leaves a hole of NUL bytes; later output follows in the
 * same line. Returns the remaining length. */
static ssize_t line_skip_nul(struct text_source *t, ssize_t n)
{
	const char *nul = memrchr(t->line, '\0', (size_t)n);
	size_t left = nul ? (size_t)(t->line + n - nul - 1) : (size_t)n;

	if (!nul)
		return n;
	text_fault(t, "there are NUL bytes; what is before them is left out");
	memmove(t->line, nul + 1, left + 1);
	return (ssize_t)left;
}

/* Read a line and let the format take it. */
static int line_read(struct text_source *t, struct lp_err *err)
{
	ssize_t n = t->at_end ? -1 : line_get(t);
	int r;

	if (n == -ENOMEM)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", t->base.path);

	if (n < 0 && t->format->end && !ferror(t->file)) {
		t->at_end = true;
		r = t->format->end(t->state, t, err);
		t->ended = r <= 0;
		return r < 0 ? lp_err_prefix(err, "%s", t->base.path) : 0;
	}
	if (n < 0) {
		t->ended = true;
		return ferror(t->file) ? lp_err_sys(err, -EIO, "cannot read %s", t->base.path) : 0;
	}
	t->number++;
	if ((size_t)n > LINE_MAX_BYTES)
		return lp_err_set(err, -EBADMSG, "%s: line %" PRIu64 " is longer than %zu bytes",
			t->base.path, t->number, LINE_MAX_BYTES);
	n = line_skip_nul(t, n);
	while (n && (t->line[n - 1] == '\n' || t->line[n - 1] == '\r'))
		t->line[--n] = '\0';
	r = t->format->line(t->state, t, t->line, err);
	return r < 0 ? lp_err_prefix(err, "%s: line %" PRIu64, t->base.path, t->number) : 0;
}

/* Read until a batch is full, or the file ends. */
static void source_fill(struct text_source *t)
{
	while (!t->ended && !t->ready) {
		if (line_read(t, &t->failure) < 0)
			t->ended = true;
	}
	if (t->ended && !t->ready && !t->finished) {
		t->finished = true;
		t->ready = t->batch->n_samples > (t->batch->carry ? 1 : 0) ? t->batch : NULL;
	}
}

static int source_finish(struct text_source *t, struct lp_err *err)
{
	if (!t->failure.code)
		t->failure = t->damage;
	if (t->failure.code) {
		*err = t->failure;
		return t->failure.code;
	}
	if (t->n_faults > WARNINGS_MAX)
		lp_warn_raise(t->warn, "%s: %" PRIu64 " bad lines in all, %d shown", t->base.path,
			t->n_faults, WARNINGS_MAX);
	if (t->n_faults)
		return lp_err_set(err, -EBADMSG,
			"%s: %" PRIu64 " bad line%s left out (the first at %s)", t->base.path,
			t->n_faults, t->n_faults == 1 ? " was" : "s were", t->first_fault);
	return 0;
}

static int source_next(struct lp_source *base, struct lp_batch **ret, struct lp_err *err)
{
	struct text_source *t = (struct text_source *)base;

	if (!t->ready)
		source_fill(t);
	if (!t->ready)
		return source_finish(t, err);
	*ret = t->ready;
	t->ready = NULL;
	return 1;
}

static const struct lp_source_ops source_ops = {.next = source_next, .close = source_close};

static int compare_i64(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The median of the first times between samples. */
static int64_t first_interval(const struct lp_batch *b)
{
	int64_t spans[INTERVALS];
	size_t n = 0;

	for (uint32_t i = 1; b && i < b->n_samples && n < INTERVALS; i++)
		spans[n++] = b->wall_us[i] - b->wall_us[i - 1];
	if (!n)
		return 0;
	qsort(spans, n, sizeof(*spans), compare_i64);
	return importer_interval(spans[n / 2]);
}

/* Read the first batch, to check that there is one and to find its interval. */
static int source_begin(struct text_source *t, struct lp_err *err)
{
	source_fill(t);
	t->base.interval_us = first_interval(t->ready);
	if (t->ready)
		return 0;
	if (t->failure.code) {
		*err = t->failure;
		return t->failure.code;
	}
	return lp_err_set(err, -ENODATA, "%s: %s", t->base.path, t->format->nothing);
}

int text_source_open(const struct text_format *format, const char *path, int fd,
	const struct lp_err *damage, struct lp_warn *warn, struct lp_source **ret,
	struct lp_err *err)
{
	struct lp_err found = damage ? *damage : (struct lp_err){0};
	struct text_source *t = calloc(1, sizeof(*t));
	_cleanup_(lp_source_closep) struct lp_source *source = t ? &t->base : NULL;
	int in = fd >= 0 ? fd : unpack_open(path, &found, err), r;

	if (t) {
		*t = (struct text_source){.format = format, .warn = warn, .damage = found};
		t->base = (struct lp_source){
			.ops = &source_ops, .path = strdup(path), .catalogue = lp_catalogue_new()};
	}
	if (in < 0)
		return in;
	if (!t) {
		close(in);
		return lp_err_sys(err, -ENOMEM, "cannot read %s", path);
	}
	t->state = calloc(1, format->state_size);
	t->batch = lp_batch_new(BATCH_SAMPLES + 1);
	t->file = fdopen(in, "re");
	if (!t->file)
		close(in);
	if (!t->base.path || !t->base.catalogue || !t->state || !t->batch || !t->file)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", path);
	r = source_begin(t, err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(source);
	return 0;
}
