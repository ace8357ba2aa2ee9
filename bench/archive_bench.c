/* How small archives are and how fast they are read.
 *
 *     archive_bench make FILE [DISKS] [SAMPLES] [BUSY] [SLOW]
 *                                         write a simulated recording, then seal it
 *     archive_bench read FILE [COLUMN]    read one column out of all (or "all")
 *
 * It simulates disks in /proc/diskstats: BUSY percent of them work, with Poisson numbers of
 * requests around a varying level, sizes of 4 to 128 KiB and varying service times. Requests of the
 * first disk take SLOW times as long as those of the others.
 */
#include <limpet/archive.h>

#include "clock.h"
#include "collect/collector.h"
#include "collect/parse.h"
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOSE_SAMPLES 10
#define SERVICE_MS 4
#define START_US INT64_C(1304899205000000) /* 2011-05-09T00:00:05Z */

static void __attribute__((noreturn)) die(const struct lp_err *err)
{
	fprintf(stderr, "archive_bench: %s\n", err->text);
	exit(1);
}

/* A simple random generator: the same file on every machine. */
static uint64_t rng_state = 42;

static double uniform(void)
{
	rng_state ^= rng_state << 13;
	rng_state ^= rng_state >> 7;
	rng_state ^= rng_state << 17;
	return (double)(rng_state >> 11) / 9007199254740992.0;
}

static unsigned poisson(double mean)
{
	double limit = exp(-mean), product = 1;
	unsigned n = 0;

	if (mean > 60) { /* close enough, and fast */
		double v = mean + sqrt(mean) * (uniform() + uniform() + uniform() - 1.5) * 2;

		return v > 0 ? (unsigned)v : 0;
	}
	for (; (product *= uniform()) > limit; n++)
		;
	return n;
}

struct disk {
	int64_t values[DISK_N_COLUMNS];
	double level;	/* requests per second, varying */
	double service; /* mean time of a request, ms */
	bool busy;
};

static void work(struct disk *d, unsigned ios, int first, double sectors)
{
	int64_t *values = d->values;

	values[first] += ios;
	values[first + 1] += poisson(ios * 0.1);
	for (unsigned i = 0; i < ios; i++)
		values[first + 2] += (int64_t)(8 * (1 + (unsigned)(uniform() * sectors)));
	for (unsigned i = 0; i < ios; i++)
		values[first + 3] += (int64_t)(-log(1 - uniform()) * d->service + 0.5);
}

static void disk_step(struct disk *d)
{
	unsigned reads, writes;

	if (!d->busy)
		return;
	d->level = fmin(400, fmax(1, d->level * (0.9 + 0.2 * uniform())));
	reads = poisson(d->level * 0.6);
	writes = poisson(d->level * 0.4);
	work(d, reads, DISK_RD_IOS, 16);
	work(d, writes, DISK_WR_IOS, 32);
	d->values[DISK_IN_FLIGHT] = poisson(d->level / 100);
	d->values[DISK_TOT_TICKS] += (int64_t)fmin(1000, (reads + writes) * 3 * uniform());
	d->values[DISK_RQ_TICKS] += (int64_t)((reads + writes) * 4 * uniform());
}

/* One loose batch, like those of the recorder. */
static void fill_batch(struct lp_batch *b, struct lp_batch_kind *k, struct disk *disks,
	uint32_t n_disks, int64_t first_sample, uint32_t n)
{
	for (uint32_t s = 0; s < n; s++) {
		int64_t t = START_US + (first_sample + s) * 1000000 + (int64_t)(uniform() * 120);

		lp_batch_add_sample(b, t, t);
		for (uint32_t i = 0; i < n_disks; i++) {
			size_t cell = (size_t)i * b->cap_samples + b->n_samples - 1;

			disk_step(&disks[i]);
			k->state[cell] = LP_PRESENT;
			for (uint32_t c = 0; c < DISK_N_COLUMNS; c++)
				k->columns[c][cell] = disks[i].values[c];
		}
	}
}

static uint64_t file_size(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static void print_size(const char *what, const char *path, uint32_t disks, int64_t samples)
{
	double bytes = (double)file_size(path);

	printf("%-7s %12.0f bytes  %7.2f bytes a disk a sample  %9.0f bytes a component-day\n",
		what, bytes, bytes / (double)disks / (double)samples,
		bytes / (double)disks / (double)samples * 86400);
}

static int make(
	const char *path, uint32_t n_disks, int64_t n_samples, unsigned busy_percent, double slow)
{
	struct lp_archive_meta meta = {.observer = "bench", .interval_us = 1000000};
	const struct lp_schema *schema = collector_find("diskstats")->schema;
	struct lp_catalogue *cat = lp_catalogue_new();
	struct lp_batch *a = lp_batch_new(LOOSE_SAMPLES + 1), *b = lp_batch_new(LOOSE_SAMPLES + 1);
	struct disk *disks = calloc(n_disks, sizeof(*disks));
	struct lp_archive_writer *w;
	struct lp_batch_kind *k;
	struct lp_err err = {0};
	uint32_t schema_id, id, row;
	double started;

	unlink(path);
	if (!cat || !a || !b || !disks || lp_archive_create(path, &meta, &w, &err) < 0 ||
		lp_catalogue_add_schema(cat, schema, &schema_id, &err) < 0)
		die(&err);
	lp_batch_kind_get(a, schema_id, schema->n_columns, NULL, &k);
	for (uint32_t i = 0; i < n_disks; i++) {
		char name[32];

		snprintf(name, sizeof(name), "d%u", i);
		lp_catalogue_add_component(cat, schema_id, "bench", name, "", &id, &err);
		lp_batch_add_component(a, k, id, &row);
		disks[i].busy = i * 100 < busy_percent * n_disks;
		disks[i].service = SERVICE_MS * (i == 0 ? slow : 1);
		disks[i].level = 20 + 200 * uniform();
		for (unsigned c = 0; c < DISK_N_COLUMNS; c++)
			disks[i].values[c] = c == DISK_IN_FLIGHT ? 0 : (int64_t)(1e8 * uniform());
	}
	started = seconds();
	for (int64_t s = 0; s < n_samples; s += LOOSE_SAMPLES) {
		struct lp_batch *swap = a;

		fill_batch(a, &a->kinds[0], disks, n_disks, s, LOOSE_SAMPLES);
		if (lp_archive_write(w, cat, a, LP_ARCHIVE_LOOSE, &err) < 0)
			die(&err);
		lp_batch_carry(b, a);
		a = b;
		b = swap;
	}
	if (lp_archive_close(w, &err) < 0)
		die(&err);
	printf("%u disks (%u%% busy), %" PRId64 " samples, simulated and written in %.1f s\n",
		n_disks, busy_percent, n_samples, seconds() - started);
	print_size("live", path, n_disks, n_samples);
	started = seconds();
	if (lp_archive_seal(path, NULL, &err) < 0)
		die(&err);
	print_size("sealed", path, n_disks, n_samples);
	printf("sealing took %.2f s\n", seconds() - started);
	return 0;
}

static bool want_column(void *ctx, const struct lp_schema *s, uint32_t column)
{
	return !strcmp(ctx, "all") || !strcmp(s->columns[column].name, ctx);
}

/* Read it once: returns samples (values) per second. */
static double read_once(const char *path, const char *column, uint64_t *ret_values)
{
	struct lp_select select = {.column = want_column, .ctx = (void *)column};
	struct lp_source *source;
	struct lp_batch *b;
	struct lp_err err = {0};
	double started = seconds();
	uint64_t values = 0;
	int r;

	if (lp_archive_open(path, &select, NULL, &source, &err) < 0)
		die(&err);
	while ((r = lp_source_next(source, &b, &err)) > 0) {
		for (uint32_t i = 0; i < b->n_kinds; i++) {
			for (uint32_t c = 0; c < b->kinds[i].n_columns; c++) {
				if (b->kinds[i].columns[c])
					values += (uint64_t)b->kinds[i].n_components *
						(b->n_samples - b->carry);
			}
		}
	}
	if (r < 0)
		die(&err);
	lp_source_close(source);
	*ret_values = values;
	return seconds() - started;
}

/* Remove the file from the page cache. */
static void make_cold(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		return;
	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
}

static int read_speed(const char *path, const char *column)
{
	uint64_t values;
	double cold, warm = 1e9;

	make_cold(path);
	cold = read_once(path, column, &values);
	for (int i = 0; i < 5; i++)
		warm = fmin(warm, read_once(path, column, &values));
	printf("column %-8s %" PRIu64 " values: cold %.0f, warm %.0f million samples/s\n", column,
		values, (double)values / cold / 1e6, (double)values / warm / 1e6);
	return 0;
}

/* The number in argument `i`, or `otherwise` if there is none. */
static int64_t number(int argc, char **argv, int i, int64_t otherwise)
{
	return argc > i ? strtoll(argv[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "make"))
		return make(argv[2], (uint32_t)number(argc, argv, 3, 64),
			number(argc, argv, 4, 86400), (unsigned)number(argc, argv, 5, 100),
			(double)number(argc, argv, 6, 1));
	if (argc > 2 && !strcmp(argv[1], "read"))
		return read_speed(argv[2], argc > 3 ? argv[3] : "rd_ios");
	fprintf(stderr,
		"usage: archive_bench make FILE [DISKS] [SAMPLES] [BUSY%%] [SLOW]\n"
		"       archive_bench read FILE [COLUMN|all]\n");
	return 2;
}
