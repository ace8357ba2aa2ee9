/* Reports of other tools, compressed or not, which are all read through text_source_open(). The
 * first byte chooses the importer. */
#include "base/cleanup.h"
#include "fuzz.h"
#include "import/importer.h"
#include "import/text_source.h"
#include "import/unpack.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static volatile uint64_t sink;

/* A format that takes any line as the time of a sample. */
static int line_take(void *state, struct text_source *t, char *line, struct lp_err *err)
{
	(void)state;
	return text_sample(t, strtoll(line, NULL, 10), err);
}

static const struct text_format times = {
	.state_size = 1, .line = line_take, .nothing = "there are no lines"};

/* Every cell must be readable memory. */
static void batch_read(const struct lp_batch *b)
{
	for (uint32_t k = 0; k < b->n_kinds; k++) {
		for (uint32_t c = 0; c < b->kinds[k].n_columns; c++) {
			for (uint32_t i = 0; i < b->kinds[k].n_components; i++)
				sink += (uint64_t)b->kinds[k]
						.columns[c][(size_t)i * b->cap_samples +
							b->n_samples - 1];
		}
	}
}

extern const struct importer importer_collectl, importer_darshan, importer_iostat;

static const struct importer *importer_of(char letter)
{
	return letter == 'c'	? &importer_collectl
		: letter == 'd' ? &importer_darshan
				: &importer_iostat;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_close_ int fd = memfd_create("reports", MFD_CLOEXEC);
	struct lp_source *source = NULL;
	struct lp_batch *batch;
	struct lp_err err = {0};
	unsigned char head[256];
	char path[64];

	if (!size || fd < 0 || write(fd, data + 1, size - 1) != (ssize_t)size - 1)
		return 0;
	unpack_head(data + 1, size - 1, head, sizeof(head));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (data[0] == 't'
			? text_source_open(&times, path, -1, NULL, NULL, &source, &err) < 0
			: importer_of((char)data[0])->open(path, NULL, NULL, NULL, &source, &err) <
				0)
		return 0;
	while (lp_source_next(source, &batch, &err) == 1)
		batch_read(batch);
	lp_source_close(source);
	return 0;
}
