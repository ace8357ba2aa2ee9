/* Two builders become one: files can be read at the same time and joined in their order. */
#include "model/table_builder.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The first unit that is known stays. */
static void set_take_unit(struct column_set *s, struct column_set *later)
{
	char *unit = s->unit;

	if (unit[0])
		return;
	s->unit = later->unit;
	later->unit = unit;
}

static int set_join(struct lp_table_builder *b, struct column_set *s, struct column_set *later)
{
	bool forever = b->opt->step_us == LP_TABLE_FOREVER;
	int r = 0;

	for (size_t i = 0; r == 0 && i < later->n_rows; i++) {
		uint32_t row;

		r = table_set_row(b, s, later->rows[i].component, &row);
		if (r == 0)
			r = table_row_join(&s->rows[row], &later->rows[i], forever, &b->budget);
		table_row_release(&later->rows[i]);
	}
	if (later->n_rows)
		set_take_unit(s, later);
	return r;
}

int table_builder_join(struct lp_table_builder *b, struct lp_table_builder *later, const char *path,
	struct lp_err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < later->n_sets; i++) {
		uint32_t set;

		r = table_set_get(b, later->sets[i].name, &set);
		if (r == 0)
			r = set_join(b, &b->sets[set], &later->sets[i]);
	}
	b->n_absurd += later->n_absurd;
	b->n_beyond += later->n_beyond;
	if (r == -EFBIG)
		return table_refuse(b, b->budget.slot, b->budget.slot, path, err);
	return r < 0 ? lp_err_sys(err, r, "cannot build a table") : 0;
}
