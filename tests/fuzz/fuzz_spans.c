/* Spans that a hostile program left in its shared memory, through all code that reads and prints
 * them. The input follows the constant beginning of the file's header: it is the rest of the header
 * except for its end, then the records of the first chunk.
 */
#include "fuzz.h"
#include "runtime/spans_file.h"
#include "trace/stack/spans_reading.h"
#include "trace/stack/stack_report.h"
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEADER_AT offsetof(struct spans_header, start_ns)
#define HEADER_REST (offsetof(struct spans_header, ticks) - HEADER_AT)

static char dir[] = "/dev/shm/limpet-fuzz-XXXXXX";

static void leave(void)
{
	rmdir(dir);
}

static void file_write(const uint8_t *data, size_t size)
{
	struct spans_header h = {.magic = SPANS_MAGIC, .version = SPANS_VERSION, .pid = 1};
	size_t rest = size < HEADER_REST ? size : HEADER_REST;
	char path[64];
	int fd;

	memcpy((char *)&h + HEADER_AT, data, rest);
	h.n_chunks %= 4; /* further ones would add nothing new */
	h.ticks = size % 2;
	memset(h.reusable, (int)(size % 3), sizeof(h.reusable));
	snprintf(path, sizeof(path), "%s/spans.1.1", dir);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || pwrite(fd, &h, sizeof(h), 0) != sizeof(h) ||
		pwrite(fd, data + rest, size - rest, SPANS_HEADER) != (ssize_t)(size - rest))
		abort();
	close(fd);
}

static int keep(void *ctx, const struct span *s)
{
	return spans_add(ctx, "host", s);
}

static void print(const struct spans *spans)
{
	static FILE *nowhere;
	struct stack_metrics m = {0};
	struct graph g = {0};
	struct lp_err err = {0};

	if (!nowhere)
		nowhere = fopen("/dev/null", "we");
	if (!nowhere || graph_open(&g, spans) < 0 || graph_join(&g, &err) < 0 ||
		stack_metrics_compute(&g, -1, NULL, &m, &err) < 0)
		abort();
	stack_text_print(nowhere, &m, 10);
	if (m.n_calls)
		stack_text_waterfall(nowhere, &m, &m.calls[0]);
	stack_csv_print(nowhere, &m);
	stack_chrome_print(nowhere, &m);
	stack_html_print(nowhere, &m);
	json_decref(stack_json_make(&m, 10));
	stack_metrics_release(&m);
	graph_release(&g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool made;
	struct spans_reading *r;
	struct spans spans = {0};
	struct lp_err err = {0};

	if (size > SPANS_CHUNK)
		return 0;
	if (!made && (!mkdtemp(dir) || atexit(leave) != 0))
		abort();
	made = true;
	file_write(data, size);
	if (spans_reading_new(dir, 0, keep, &spans, &r, &err) < 0 ||
		spans_reading_look(r, true, &err) < 0)
		abort();
	spans_reading_free(r);
	if (spans_sort(&spans) < 0)
		abort();
	print(&spans);
	spans_release(&spans);
	return 0;
}
