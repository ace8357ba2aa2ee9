/* Options of commands that read DATA: the options of importers, so that foreign files need no
 * conversion.
 */
#ifndef CLI_DATA_OPTIONS_H
#define CLI_DATA_OPTIONS_H

#include "base/option.h"
#include "base/strbuf.h"
#include "import/importer.h"
#include <limpet/dataset.h>

#define DATA_IMPORTERS_MAX 16

struct data_options {
	void *values[DATA_IMPORTERS_MAX]; /* [importer] its options struct, or NULL */
	struct option_table tables[DATA_IMPORTERS_MAX];
	size_t n_tables;
	size_t n_importers;
};

/* Allocate the options of all importers, or only of `importer` if it is not NULL. */
int data_options_init(struct data_options *d, const struct importer *importer, struct lp_err *err);
void data_options_release(struct data_options *d);

/* Open DATA. Options given for an importer choose that importer for foreign files. */
int data_open(const struct data_options *d, char *const *paths, int n_paths, struct lp_warn *warn,
	struct lp_dataset **ret, struct lp_err *err);

/* The same for foreign files of one importer only (NULL: any). */
int data_open_as(const struct data_options *d, const struct importer *format, char *const *paths,
	int n_paths, struct lp_warn *warn, struct lp_dataset **ret, struct lp_err *err);

/* No component has the name `name`: add the most similar ones in the data, or a few existing
 * ones. */
void data_add_nearest(struct strbuf *sb, struct lp_dataset *ds, const char *name);

/* No component has a metric `name`: add the most similar ones in the data, if there are any. `raw`:
 * metrics are columns of archives. */
void data_add_nearest_metric(struct strbuf *sb, struct lp_dataset *ds, const char *name, bool raw);

/* Prints warnings to standard error, "limpet: ...". */
void data_print_warning(void *ctx, const char *text);

/* The same, but each text only once: commands read some files twice. */
void data_print_once(void *ctx, const char *text);

#endif
