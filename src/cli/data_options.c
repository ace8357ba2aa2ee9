#include "cli/data_options.h"
#include "cli/command.h"

#include "base/hash.h"
#include "base/meant.h"
#include "base/strbuf.h"
#include <errno.h>
#include <glob.h>
#include <limpet/archive.h>
#include <limpet/metric.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int data_options_init(struct data_options *d, const struct importer *importer, struct lp_err *err)
{
	*d = (struct data_options){0};
	for (; importers[d->n_importers] && d->n_importers < DATA_IMPORTERS_MAX; d->n_importers++) {
		const struct importer *i = importers[d->n_importers];

		if (!i->options_size || (importer && i != importer))
			continue;
		d->values[d->n_importers] = calloc(1, i->options_size);
		if (!d->values[d->n_importers]) {
			data_options_release(d);
			return lp_err_sys(err, -ENOMEM, "cannot read options");
		}
		d->tables[d->n_tables++] =
			(struct option_table){i->options, d->values[d->n_importers]};
	}
	return 0;
}

void data_options_release(struct data_options *d)
{
	for (size_t i = 0; i < d->n_importers; i++)
		free(d->values[i]);
	*d = (struct data_options){0};
}

/* Was any of these options given? */
static bool options_given(const void *values, size_t size)
{
	const unsigned char *p = values;

	for (size_t i = 0; i < size; i++) {
		if (p[i])
			return true;
	}
	return false;
}

/* The default directories of recorders: this directory, or that of the service. NULL: neither has
 * an archive. */
static char *const *default_paths(void)
{
	static char here[] = ".", service[] = "/var/lib/limpet";
	static char *const candidates[] = {here, service};
	static const char *const globs[] = {
		"*" LP_ARCHIVE_SUFFIX, "/var/lib/limpet/*" LP_ARCHIVE_SUFFIX};

	for (size_t i = 0; i < 2; i++) {
		glob_t found = {0};
		bool any = glob(globs[i], 0, NULL, &found) == 0;

		globfree(&found);
		if (any)
			return &candidates[i];
	}
	return NULL;
}

int data_open_as(const struct data_options *d, const struct importer *format, char *const *paths,
	int n_paths, struct lp_warn *warn, struct lp_dataset **ret, struct lp_err *err)
{
	const void *values = NULL;

	if (n_paths < 1) {
		paths = default_paths();
		n_paths = paths ? 1 : 0;
	}
	if (n_paths < 1)
		return lp_err_set(err, -EINVAL,
			"name the data: an archive, a directory of archives, a sysstat or CSV "
			"file");
	for (size_t i = 0; i < d->n_importers; i++) {
		bool given =
			d->values[i] && options_given(d->values[i], importers[i]->options_size);

		if (importers[i] == format || (!format && given)) {
			format = importers[i];
			values = d->values[i];
		}
	}
	return lp_dataset_open((const char *const *)paths, (size_t)n_paths,
		format ? format->name : NULL, values, warn, ret, err);
}

int data_open(const struct data_options *d, char *const *paths, int n_paths, struct lp_warn *warn,
	struct lp_dataset **ret, struct lp_err *err)
{
	return data_open_as(d, NULL, paths, n_paths, warn, ret, err);
}

#define ONCE_MAX 256	 /* texts that are remembered */
#define NEAREST_LISTED 4 /* components to list if none is similar */

/* The components of the data that are most similar to an unknown name: one that may be meant, or
 * those that begin like it. */
struct nearest {
	struct meant meant;
	const char *word;
	struct like {
		char *text;
		size_t alike; /* characters at its beginning */
	} listed[NEAREST_LISTED];
	struct strmap seen;
};

static void nearest_list(struct nearest *n, const char *text)
{
	struct like own = {.text = strdup(text)};

	while (own.text && n->word[own.alike] && text[own.alike] == n->word[own.alike])
		own.alike++;
	for (size_t i = 0; own.text && i < NEAREST_LISTED; i++) {
		struct like *at = &n->listed[i];

		if (!at->text || at->alike < own.alike) {
			struct like next = *at;

			*at = own;
			own = next;
		}
	}
	free(own.text);
}

static int nearest_consider(
	void *ctx, struct lp_source *source, const struct lp_batch *batch, struct lp_err *err)
{
	struct nearest *n = ctx;

	(void)batch;
	(void)err;
	for (uint32_t i = 0; i < source->catalogue->n_components; i++) {
		struct lp_identity *id = source->catalogue->components[i].identity;
		uint32_t before;

		if (!id || strmap_get(&n->seen, id->text, &before) ||
			strmap_put(&n->seen, id->text, 0) < 0)
			continue;
		meant_consider(&n->meant, id->text);
		nearest_list(n, id->text);
	}
	return 0;
}

void data_add_nearest(struct strbuf *sb, struct lp_dataset *ds, const char *name)
{
	struct nearest n = {.meant = {.word = name}, .word = name};
	struct lp_err ignored = {0};

	lp_dataset_read(ds, NULL, nearest_consider, &n, &ignored);
	if (n.meant.edits) {
		strbuf_puts(sb, meant_question(&n.meant));
	} else if (n.seen.n) {
		strbuf_printf(sb, "; there %s", n.seen.n == 1 ? "is" : "are");
		for (size_t i = 0; i < NEAREST_LISTED && n.listed[i].text; i++)
			strbuf_printf(sb, "%s%s", i ? ", " : " ", n.listed[i].text);
		strbuf_puts(sb, n.seen.n > NEAREST_LISTED ? " and others" : "");
		strbuf_puts(sb, " ('limpet show' lists them)");
	}
	for (size_t i = 0; i < NEAREST_LISTED; i++)
		free(n.listed[i].text);
	strmap_release(&n.seen);
}

/* The metrics of the data that are most similar to an unknown name. */
struct nearest_metric {
	struct meant meant;
	bool raw;
};

static int metric_consider(
	void *ctx, struct lp_source *source, const struct lp_batch *batch, struct lp_err *err)
{
	struct nearest_metric *n = ctx;

	(void)batch;
	(void)err;
	for (uint32_t i = 0; i < source->catalogue->n_schemas; i++) {
		const struct lp_schema *s = &source->catalogue->schemas[i];

		for (uint32_t c = 0; c < s->n_columns; c++) {
			if (n->raw || s->columns[c].type == LP_REAL)
				meant_consider(&n->meant, s->columns[c].name);
		}
		for (const struct lp_metric *const *m = lp_metric_all(); !n->raw && *m; m++) {
			if (!strcmp((*m)->kind, s->kind))
				meant_consider(&n->meant, (*m)->name);
		}
	}
	return 0;
}

void data_add_nearest_metric(struct strbuf *sb, struct lp_dataset *ds, const char *name, bool raw)
{
	struct nearest_metric n = {.meant = {.word = name}, .raw = raw};
	struct lp_err ignored = {0};

	lp_dataset_read(ds, NULL, metric_consider, &n, &ignored);
	strbuf_puts(sb, meant_question(&n.meant));
}

void data_print_warning(void *ctx, const char *text)
{
	(void)ctx;
	command_complain(NULL, text);
}

void data_print_once(void *ctx, const char *text)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static uint64_t printed[ONCE_MAX]; /* hashes */
	static uint32_t n;
	uint64_t own = hash_bytes(text, strlen(text));
	bool before = false;

	(void)ctx;
	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < n && i < ONCE_MAX; i++)
		before |= printed[i] == own;
	if (!before)
		printed[n++ % ONCE_MAX] = own;
	pthread_mutex_unlock(&lock);
	if (!before)
		command_complain(NULL, text);
}
