/* A request of a server: its words, one per line, and a body of frames. Accepted data is read again
 * as an archive, and must be complete.
 *
 *     OBSERVER/FILE
 *     FROM
 *     SUM
 *     frames...
 */
#include "base/cleanup.h"
#include "fix_frame.h"
#include "fuzz.h"
#include "serve/ingest_request.h"
#include <errno.h>
#include <limpet/archive.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

/* Where the body begins. */
static size_t body_of(const uint8_t *data, size_t size)
{
	size_t at = 0;

	for (int lines = 0; lines < 3 && at < size; at++)
		lines += data[at] == '\n';
	return at;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	size_t at;

	size = LLVMFuzzerMutate(data, size, max_size);
	at = body_of(data, size);
	while (seed % 8 && at + FRAME_HEADER_SIZE <= size) {
		if (format_is_frame_magic(data + at))
			at = fix_frame(data, size, at);
		else
			at++;
	}
	return size;
}

static char dir[] = "/dev/shm/limpet-fuzz-ingest-XXXXXX";
static struct ingest *collector;

static void at_end(void)
{
	ingest_close(collector);
	rmdir(dir);
}

static void begin(void)
{
	const struct ingest_config config = {.dir = dir};
	struct lp_err err = {0};

	if (!mkdtemp(dir) || ingest_open(&config, &collector, &err) < 0)
		abort();
	atexit(at_end);
}

/* A line of the input, as a text that the caller frees. */
static char *line_take(const uint8_t **p, const uint8_t *end)
{
	const uint8_t *nl = memchr(*p, '\n', (size_t)(end - *p));
	char *text = strndup((const char *)*p, (size_t)((nl ? nl : end) - *p));

	*p = nl ? nl + 1 : end;
	return text;
}

/* Accepted data is an archive with the same number of frames, none of them damaged. */
static void look(const struct ingest_put *put, const struct ingest_place *place)
{
	struct lp_archive_report report;
	struct lp_err err = {0};
	char path[1024];

	snprintf(path, sizeof(path), "%s/%s", dir, put->file);
	if (lp_archive_check(path, NULL, NULL, &report, &err) == 0 &&
		report.n_frames != place->n_frames)
		abort();
}

static void send(const struct ingest_put *put)
{
	struct ingest_place place;
	struct lp_err err = {0};
	enum ingest_refusal no = ingest_put(collector, put, &place, &err);
	char path[1024];

	if ((no == INGEST_FINE) != (err.code == 0))
		abort();
	if (no == INGEST_FINE && put->size) {
		look(put, &place);
		/* It is not accepted twice. */
		if (ingest_put(collector, put, &place, &err) != INGEST_REPLAY)
			abort();
	}
	snprintf(path, sizeof(path), "%s/%s", dir, put->file);
	unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *p = data, *end = data + size;
	_cleanup_free_ char *rest = line_take(&p, end);
	_cleanup_free_ char *from = line_take(&p, end);
	_cleanup_free_ char *sum = line_take(&p, end);
	struct ingest_target target = {0};
	struct ingest_put put = {.body = p, .size = (size_t)(end - p)};
	struct ingest_summary summary;
	struct lp_err err = {0};

	if (!collector)
		begin();
	if (!rest || !from || !sum)
		return 0;
	ingest_check(p, put.size, "h", 0, &summary, &err);
	if (!ingest_target_parse(rest, &target) || !target.file ||
		!ingest_numbers_parse(from, sum, &put))
		return 0;
	put.observer = target.observer;
	put.file = target.file;
	if (strchr(target.file, '/'))
		abort();
	send(&put);
	return 0;
}
