/* Arbitrary bytes as a sysstat file: everything that is returned must be readable memory, and
 * reading must end. */
#include "fuzz.h"

#include "base/file.h"
#include "import/importer.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile uint64_t sink; /* so that the reads below are not optimised away */

static bool every_second(void *ctx, const struct lp_schema *s, uint32_t column)
{
	(void)ctx;
	(void)s;
	return column % 2;
}

static bool even_ids(void *ctx, const struct lp_catalogue *c, uint32_t id)
{
	(void)ctx;
	return c->n_components > id && id % 2 == 0;
}

static void read_batch(const struct lp_source *s, const struct lp_batch *b)
{
	uint64_t sum = 0;

	if (b->n_samples <= b->carry)
		abort(); /* a batch must contain something new */
	for (uint32_t k = 0; k < b->n_kinds; k++) {
		const struct lp_batch_kind *kind = &b->kinds[k];

		for (uint32_t row = 0; row < kind->n_components; row++) {
			if (kind->ids[row] >= s->catalogue->n_components)
				abort();
			for (uint32_t i = 0; i < b->n_samples; i++) {
				size_t cell = (size_t)row * b->cap_samples + i;

				for (uint32_t c = 0; c < kind->n_columns; c++) {
					if (kind->state[cell] && kind->columns[c])
						sum += (uint64_t)kind->columns[c][cell];
				}
			}
		}
	}
	sink = sum;
}

static void read_file(const char *path, const struct lp_select *select)
{
	const struct importer *importer = importer_find("sysstat");
	struct lp_warn warn = {0};
	struct lp_err err = {0};
	struct lp_source *s;
	struct lp_batch *b;

	if (importer->open(path, NULL, select, &warn, &s, &err) < 0)
		return;
	while (lp_source_next(s, &b, &err) > 0)
		read_batch(s, b);
	lp_source_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct lp_select some = {.from_us = INT64_C(1794700802000000),
		.to_us = INT64_C(1794700804000000),
		.component = even_ids,
		.column = every_second};
	static int fd = -1;
	char path[64];

	if (fd < 0)
		fd = memfd_create("sysstat", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, (off_t)size) < 0 || file_pwrite_full(fd, data, size, 0) < 0)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	importer_find("sysstat")->probe(path, data, size);
	read_file(path, NULL);
	read_file(path, &some);
	return 0;
}
