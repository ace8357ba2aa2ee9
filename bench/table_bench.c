/* How fast files become a table.
 *
 *     table_bench METRIC STEP DATA [NAMES]
 *
 * NAMES is a file of component names, one a line (default: all components). Prints how long it
 * took, the most memory it took, and a checksum of all values, which must not depend on
 * OMP_NUM_THREADS.
 */
#include <limpet/dataset.h>

#include "base/time.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int die(const struct lp_err *err)
{
	fprintf(stderr, "table_bench: %s\n", err->text);
	return 1;
}

/* The lines of a file; never freed. */
static const char **read_lines(const char *path, uint32_t *ret_n)
{
	FILE *f = fopen(path, "re");
	const char **lines = calloc(1 << 20, sizeof(char *));
	char line[1024];

	for (*ret_n = 0; f && lines && *ret_n < 1 << 20 && fgets(line, sizeof(line), f);) {
		line[strcspn(line, "\n")] = '\0';
		lines[(*ret_n)++] = strdup(line);
	}
	if (f)
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

int main(int argc, char **argv)
{
	struct lp_table_options opt = {.metrics = (const char *const *)&argv[1], .n_metrics = 1};
	struct lp_table **tables = NULL;
	struct lp_dataset *ds = NULL;
	struct lp_err err = {0};
	struct rusage usage;
	double started = seconds();
	uint32_t n = 0;

	if (argc < 4) {
		fprintf(stderr, "usage: table_bench METRIC STEP DATA [NAMES]\n");
		return 2;
	}
	if (argc > 4)
		opt.components = read_lines(argv[4], &opt.n_components);
	if (span_parse(argv[2], &opt.step_us, &err) < 0 ||
		lp_dataset_open((const char *const *)&argv[3], 1, NULL, NULL, NULL, &ds, &err) <
			0 ||
		lp_dataset_tables(ds, &opt, &tables, &n, &err) < 0)
		return die(&err);
	getrusage(RUSAGE_SELF, &usage);
	printf("%u components, %u slots: %.2f s (%.2f s of CPU), %ld MiB, checksum %016" PRIx64
	       "\n",
		n ? tables[0]->n_components : 0, n ? tables[0]->n_slots : 0, seconds() - started,
		(double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
			(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6,
		usage.ru_maxrss / 1024, n ? checksum(tables[0]) : 0);
	lp_dataset_close(ds);
	return 0;
}
