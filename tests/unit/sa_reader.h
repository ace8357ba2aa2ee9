/* Opens sysstat files that tests wrote, and finds values in the resulting batches. */
#ifndef SA_READER_H
#define SA_READER_H

#include "unit.h"

#include "import/importer.h"
#include "sa_writer.h"

/* Save, open and delete. */
static inline struct lp_source *open_writer(const struct sa_writer *w, size_t len,
	const struct lp_select *select, struct lp_warn *warn, struct lp_err *err)
{
	char path[] = "/tmp/limpet-sa-XXXXXX";
	struct lp_source *s = NULL;

	assert_true(sa_save(w, len, path));
	if (importer_find("sysstat")->open(path, NULL, select, warn, &s, err) < 0)
		s = NULL;
	unlink(path);
	return s;
}

static inline const struct lp_batch_kind *find_row(
	const struct lp_source *s, const struct lp_batch *b, const char *name, uint32_t *ret_row)
{
	char full[128];

	for (uint32_t k = 0; k < b->n_kinds; k++) {
		for (uint32_t row = 0; row < b->kinds[k].n_components; row++) {
			lp_component_name(s->catalogue, b->kinds[k].ids[row], full, sizeof(full));
			if (!strcmp(full, name)) {
				*ret_row = row;
				return &b->kinds[k];
			}
		}
	}
	fail_msg("no row of %s", name);
	return NULL;
}

static inline int64_t value(const struct lp_source *s, const struct lp_batch *b, const char *name,
	const char *column, uint32_t sample)
{
	uint32_t row;
	const struct lp_batch_kind *k = find_row(s, b, name, &row);
	int c = lp_schema_column(&s->catalogue->schemas[k->schema], column);

	assert_true(c >= 0);
	assert_non_null(k->columns[c]);
	return k->columns[c][(size_t)row * b->cap_samples + sample];
}

static inline unsigned state(
	const struct lp_source *s, const struct lp_batch *b, const char *name, uint32_t sample)
{
	uint32_t row;
	const struct lp_batch_kind *k = find_row(s, b, name, &row);

	return k->state[(size_t)row * b->cap_samples + sample];
}

static inline const struct lp_column *column_of(
	const struct lp_source *s, const char *kind, const char *name)
{
	for (uint32_t i = 0; i < s->catalogue->n_schemas; i++) {
		const struct lp_schema *schema = &s->catalogue->schemas[i];
		int c = lp_schema_column(schema, name);

		if (!strcmp(schema->kind, kind) && c >= 0)
			return &schema->columns[c];
	}
	return NULL;
}

/* For a struct lp_warn with room for 200 bytes in ctx: the last warning. */
static inline void keep_warning(void *ctx, const char *text)
{
	snprintf(ctx, 200, "%s", text);
}

#endif
