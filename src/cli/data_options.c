#include "cli/data_options.h"
#include "cli/command.h"

#include <errno.h>
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

int data_open_as(const struct data_options *d, const struct importer *format, char *const *paths,
	int n_paths, struct lp_warn *warn, struct lp_dataset **ret, struct lp_err *err)
{
	const void *values = NULL;

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

void data_print_warning(void *ctx, const char *text)
{
	(void)ctx;
	command_complain(NULL, text);
}
