/* Shared by the tests of formats that are read line by line: a file, and the values in it. */
#ifndef UNIT_IMPORT_TEXT_H
#define UNIT_IMPORT_TEXT_H

#include "unit.h"

#include "import/importer.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct text_file {
	char path[64];
	struct lp_source *source;
	struct lp_err err;
	struct lp_warn warn;
	int r; /* of open() */
};

/* Write a file and open it with an importer. */
static inline void text_file_open_bytes(
	struct text_file *f, const char *importer, const char *text, size_t n)
{
	int fd;

	*f = (struct text_file){0};
	strcpy(f->path, "/tmp/limpet-test-XXXXXX");
	fd = mkstemp(f->path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, n), n);
	close(fd);
	f->r = importer_find(importer)->open(f->path, NULL, NULL, &f->warn, &f->source, &f->err);
}

static inline void text_file_open(struct text_file *f, const char *importer, const char *text)
{
	text_file_open_bytes(f, importer, text, strlen(text));
}

static inline void text_file_close(struct text_file *f)
{
	lp_source_close(f->source);
	unlink(f->path);
}

/* There must be a next batch. */
static inline struct lp_batch *text_file_batch(struct text_file *f)
{
	struct lp_batch *b = NULL;

	assert_int_equal(f->r, 0);
	assert_int_equal(lp_source_next(f->source, &b, &f->err), 1);
	return b;
}

/* The cell of "observer/kind:name" and a column in a sample. */
static inline int64_t text_file_cell(const struct text_file *f, const struct lp_batch *b,
	const char *component, const char *column, uint32_t sample)
{
	for (uint32_t k = 0; k < b->n_kinds; k++) {
		const struct lp_batch_kind *kind = &b->kinds[k];
		int at = lp_schema_column(&f->source->catalogue->schemas[kind->schema], column);

		for (uint32_t i = 0; at >= 0 && i < kind->n_components; i++) {
			char name[128];

			lp_component_name(f->source->catalogue, kind->ids[i], name, sizeof(name));
			if (!strcmp(name, component)) {
				size_t cell = (size_t)i * b->cap_samples + sample;

				assert_int_equal(kind->state[cell], LP_PRESENT);
				return kind->columns[at][cell];
			}
		}
	}
	fail_msg("there is no %s of %s", column, component);
	return 0;
}

static inline double text_file_value(const struct text_file *f, const struct lp_batch *b,
	const char *component, const char *column, uint32_t sample)
{
	return lp_cell_to_real(text_file_cell(f, b, component, column, sample));
}

#endif
