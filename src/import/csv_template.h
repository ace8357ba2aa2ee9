/* The names of the columns of a CSV file, and the template that makes a component's name from the
 * fields of a row: "{host}/disk:{disk_id}".
 */
#ifndef IMPORT_CSV_TEMPLATE_H
#define IMPORT_CSV_TEMPLATE_H

#include "base/strbuf.h"
#include "import/csv_parse.h"

struct csv_header {
	char **names;
	size_t n;
};

/* Copy the fields of the header row. */
int csv_header_init(struct csv_header *h, const struct csv_field *fields, size_t n);
void csv_header_release(struct csv_header *h);

/* The column with this name; if there is none, upper and lower case are ignored. Returns a negative
 * errno with an error that lists the existing columns. */
int csv_header_find(const struct csv_header *h, const char *name, struct lp_err *err);

struct csv_template_part {
	char *text; /* NULL for a column */
	size_t column;
};

struct csv_template {
	struct csv_template_part *parts;
	size_t n, cap;
};

/* Compile a template for one file. `{dir}` is the name of its directory, `{dir2}` that of the
 * directory above, `{file}` the name of the file without .csv and the like. Any other name in
 * braces is a column. */
int csv_template_compile(struct csv_template *t, const char *text, const char *path,
	const struct csv_header *h, struct lp_err *err);
void csv_template_release(struct csv_template *t);

/* The fields of this row that the template uses, as one key: two rows with the same key get the
 * same name. The text is in the row or in `scratch`. */
struct csv_field csv_template_key(
	const struct csv_template *t, const struct csv_field *fields, struct strbuf *scratch);

/* Replace the contents of `ret_name` by the name for this row. */
void csv_template_expand(
	const struct csv_template *t, const struct csv_field *fields, struct strbuf *ret_name);

#endif
