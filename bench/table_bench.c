/* The time to make a table from files.
 *
 *     table_bench [-n NAMES] [-u UNTIL] [-o OUT.npy] METRIC STEP DATA
 *
 * NAMES is a file of component names, one per line (default: all components). Prints the time, the
 * peak memory, and a checksum of all values, which must not depend on OMP_NUM_THREADS. With -o the
 * table is written for NumPy. METRIC may be "raw:" and a raw column.
 */
#include <limpet/dataset.h>

#include "base/time.h"
#include "clock.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define NAMES_MAX (1 << 20)

static void __attribute__((noreturn)) die(const char *text)
{
	fprintf(stderr, "table_bench: %s\n", text);
	exit(1);
}

/* The lines of a file; never freed. */
static const char *const *read_lines(const char *path, uint32_t *ret_n)
{
	FILE *f = fopen(path, "re");
	const char **lines = calloc(NAMES_MAX, sizeof(char *));
	char line[1024];

	if (!f || !lines)
		die("cannot read the names");
	for (*ret_n = 0; *ret_n < NAMES_MAX && fgets(line, sizeof(line), f);) {
		line[strcspn(line, "\n")] = '\0';
		lines[(*ret_n)++] = strdup(line);
	}
	fclose(f);
	return lines;
}

static uint64_t checksum(const struct lp_table *t)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < (size_t)t->n_components * t->n_slots; i++) {
		uint64_t bits;

		memcpy(&bits, &t->values[i], sizeof(bits));
		sum = (sum ^ bits) * UINT64_C(0x100000001b3);
	}
	return sum;
}

/* The format of NumPy: a header of text, and the values as in memory. The grid and the names of the
 * rows are in separate files. */
static void write_npy(const struct lp_table *t, const char *path)
{
	char header[128], names[4096];
	uint16_t length = 118;
	FILE *f = fopen(path, "we");

	if (!f)
		die("cannot create the file for NumPy");
	snprintf(header, sizeof(header),
		"{'descr': '<f8', 'fortran_order': False, 'shape': (%u, %u), }", t->n_components,
		t->n_slots);
	fwrite("\x93NUMPY\x01\x00", 1, 8, f);
	fwrite(&length, 2, 1, f);
	fprintf(f, "%-117s\n", header);
	fwrite(t->values, sizeof(double), (size_t)t->n_components * t->n_slots, f);
	if (fclose(f) < 0)
		die("cannot write the file for NumPy");
	snprintf(names, sizeof(names), "%s.names", path);
	f = fopen(names, "we");
	if (f)
		fprintf(f, "%" PRId64 " %" PRId64 "\n", t->start_us, t->step_us);
	for (uint32_t i = 0; f && i < t->n_components; i++)
		fprintf(f, "%s\n", t->components[i]->text);
	if (!f || fclose(f) < 0)
		die("cannot write the names for NumPy");
}

static void print_cost(const struct lp_table *t, double took_s)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	printf("%u components, %u slots: %.2f s (%.2f s of CPU), %ld MiB, checksum %016" PRIx64
	       "\n",
		t->n_components, t->n_slots, took_s,
		(double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
			(double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6,
		u.ru_maxrss / 1024, checksum(t));
}

int main(int argc, char **argv)
{
	const char *metric, *out = NULL, *data;
	struct lp_table_options opt = {.metrics = &metric, .n_metrics = 1};
	struct lp_table **tables = NULL;
	struct lp_dataset *ds = NULL;
	struct lp_err err = {0};
	double started = seconds();
	uint32_t n = 0;

	for (int o; (o = getopt(argc, argv, "n:u:o:")) != -1;) {
		if (o == 'n')
			opt.components = read_lines(optarg, &opt.n_components);
		else if (o == 'u' && time_parse(optarg, &opt.to_us, &err) < 0)
			die(err.text);
		else if (o == 'o')
			out = optarg;
	}
	if (argc - optind != 3)
		die("usage: table_bench [-n NAMES] [-u UNTIL] [-o OUT.npy] METRIC STEP DATA");
	metric = argv[optind];
	data = argv[optind + 2];
	opt.raw = !strncmp(metric, "raw:", 4);
	metric += opt.raw ? 4 : 0;
	if (span_parse(argv[optind + 1], &opt.step_us, &err) < 0 ||
		lp_dataset_open(&data, 1, NULL, NULL, NULL, &ds, &err) < 0 ||
		lp_dataset_tables(ds, &opt, &tables, &n, &err) < 0)
		die(err.text);
	if (!n)
		die("there is no such metric");
	print_cost(tables[0], seconds() - started);
	if (out)
		write_npy(tables[0], out);
	lp_dataset_close(ds);
	return 0;
}
