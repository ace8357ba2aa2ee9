/* embed: which component has the highest mean of a metric? A small program with limpet inside.
 *
 *     cc embed.c $(pkg-config --cflags --libs limpet) -o embed
 *     ./embed await /var/lib/limpet /var/log/sysstat/sa15
 */
#include <errno.h>
#include <limpet/limpet.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void print_warning(void *ctx, const char *text)
{
	(void)ctx;
	fprintf(stderr, "embed: %s\n", text);
}

/* The mean of the values that are there; NaN if there are none. */
static double row_mean(const struct lp_table *t, uint32_t component)
{
	const double *row = t->values + (size_t)component * t->n_slots;
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t slot = 0; slot < t->n_slots; slot++) {
		if (isnan(row[slot]))
			continue;
		sum += row[slot];
		n++;
	}
	return n ? sum / n : NAN;
}

static void print_highest(const struct lp_table *t)
{
	uint32_t highest = 0;
	double mean = NAN;

	for (uint32_t c = 0; c < t->n_components; c++) {
		double m = row_mean(t, c);

		if (isnan(m) || m <= mean)
			continue;
		highest = c;
		mean = m;
	}
	if (isnan(mean))
		printf("no component has a value of %s\n", t->metric);
	else
		printf("%s: %s %.3f %s on average, the highest of %u components\n",
			t->components[highest]->text, t->metric, mean, t->unit, t->n_components);
}

int main(int argc, char **argv)
{
	struct lp_warn warn = {.warn = print_warning};
	struct lp_table_options options = {.n_metrics = 1};
	struct lp_dataset *data = NULL;
	struct lp_table **tables = NULL;
	struct lp_err err = {0};
	uint32_t n = 0;
	int r;

	if (argc < 3) {
		fprintf(stderr, "usage: embed METRIC DATA...\n");
		return 2;
	}
	options.metrics = (const char *const *)&argv[1];
	r = lp_dataset_open(
		(const char *const *)&argv[2], (size_t)argc - 2, NULL, NULL, &warn, &data, &err);
	if (r == 0)
		r = lp_dataset_tables(data, &options, &tables, &n, &err);
	if (r < 0)
		fprintf(stderr, "embed: %s\n", err.text);

	/* Of damaged data the good part comes with -EBADMSG. */
	for (uint32_t i = 0; i < n; i++) {
		print_highest(tables[i]);
		lp_table_free(tables[i]);
	}
	if (r == 0 && n == 0)
		fprintf(stderr, "embed: nothing there has a metric %s\n", argv[1]);
	free(tables);
	lp_dataset_close(data);
	return r < 0 || n == 0 ? 2 : 0;
}
