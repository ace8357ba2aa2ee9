/* The csv importer on arbitrary bytes. The first byte chooses the options: the long form or named
 * columns, the separator, the size of a chunk, whether only a part is selected, and whether rows
 * are events. */
#include "base/cleanup.h"
#include "base/time.h"
#include "fuzz.h"
#include "import/csv_layout.h"
#include "import/importer.h"
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Put the input into a file in memory that can be opened by its path. */
static const char *input_file(const uint8_t *data, size_t size)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("fuzz.csv", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	if (fd < 0 || ftruncate(fd, 0) < 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	return path;
}

static bool even_component(void *ctx, const struct lp_catalogue *c, uint32_t id)
{
	(void)ctx;
	(void)c;
	return id % 2 == 0;
}

static bool odd_column(void *ctx, const struct lp_schema *s, uint32_t column)
{
	(void)ctx;
	(void)s;
	return column % 2;
}

/* What a reader may rely on: known ids, and times in order. */
static void check_kind(const struct lp_source *s, const struct lp_batch_kind *k)
{
	for (uint32_t row = 0; row < k->n_components; row++) {
		if (k->ids[row] >= s->catalogue->n_components ||
			s->catalogue->components[k->ids[row]].schema != k->schema)
			abort();
	}
}

static void check_batch(const struct lp_source *s, const struct lp_batch *b)
{
	if (!b->n_samples || b->carry)
		abort();
	for (uint32_t i = 1; i < b->n_samples; i++) {
		if (b->wall_us[i] <= b->wall_us[i - 1])
			abort();
	}
	for (uint32_t k = 0; k < b->n_kinds; k++)
		check_kind(s, &b->kinds[k]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct lp_select select = {.from_us = 1,
		.to_us = INT64_C(4000000000000000),
		.component = even_component,
		.column = odd_column};
	const struct importer *csv = importer_find("csv");
	struct csv_options o = {0};
	struct lp_warn warn = {0};
	struct lp_err err = {0};
	struct lp_source *s;
	struct lp_batch *b;
	const char *path;

	if (!size)
		return 0;
	if (*data & 1) {
		o.time = "t";
		o.component = *data & 2 ? "{h}/disk:{d}" : "{dir}/{d}:{file}";
		o.values.items[o.values.n++] = *data & 4 ? "a,b=c" : "a";
	}
	o.separator = *data & 8 ? ";" : NULL;
	o.chunk_values = *data & 16 ? 4 : 0;
	if (*data & 64)
		o.events = *data & 128 ? "held" : "rated";
	o.events_every_us = US_PER_DAY;
	o.events_max = 4096; /* there may be centuries between two events */
	path = input_file(data + 1, size - 1);
	csv->probe(path, data + 1, size - 1);
	if (csv->open(path, &o, *data & 32 ? &select : NULL, &warn, &s, &err) < 0)
		return 0;
	while (lp_source_next(s, &b, &err) == 1)
		check_batch(s, b);
	lp_source_close(s);
	return 0;
}
