/* An archive of arbitrary bytes: read it whole and in part, check, repair, seal and continue it.
 *
 * Checksums would reject nearly every mutation immediately, so the mutator corrects them.
 */
#include "fuzz.h"

#include "archive/frames.h"
#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/file.h"
#include "fix_frame.h"
#include <fcntl.h>
#include <limpet/log.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

/* Index entries repeat the fields of the frames to which they point. */
static void fix_entries(uint8_t *data, size_t size, uint8_t *payload, uint32_t payload_size)
{
	for (uint32_t at = 0; payload_size - at >= INDEX_ENTRY_SIZE; at += INDEX_ENTRY_SIZE) {
		uint64_t offset = get_u64(payload + at);

		if (offset < size && size - offset >= FRAME_HEADER_SIZE)
			memmove(payload + at + 8, data + offset + 4, FRAME_FIELDS_SIZE);
	}
}

/* Make the frame at `at` valid; returns where the next one begins. */
static size_t fix_any_frame(uint8_t *data, size_t size, size_t at)
{
	uint8_t *header = data + at;
	uint32_t payload_size = get_u32(header + 8);

	if (header[4] == FRAME_INDEX && payload_size <= size - at - FRAME_HEADER_SIZE)
		fix_entries(data, size, header + FRAME_HEADER_SIZE, payload_size);
	return fix_frame(data, size, at);
}

static void fix_file(uint8_t *data, size_t size)
{
	size_t at = FILE_HEADER_SIZE;

	if (size < FILE_HEADER_SIZE)
		return;
	put_u32(data + 12, crc32c(0, data, 12));
	while (at + FRAME_HEADER_SIZE <= size) {
		if (format_is_frame_magic(data + at))
			at = fix_any_frame(data, size, at);
		else
			at++;
	}
	if (size >= TRAILER_SIZE && !memcmp(data + size - 8, "\xf5LPE", 4))
		put_u32(data + size - 4, crc32c(0, data + size - TRAILER_SIZE, 12));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	size = LLVMFuzzerMutate(data, size, max_size);
	if (seed % 8)
		fix_file(data, size);
	return size;
}

static bool odd_column(void *ctx, const struct lp_schema *s, uint32_t column)
{
	(void)ctx;
	(void)s;
	return column % 2;
}

static bool even_component(void *ctx, const struct lp_catalogue *c, uint32_t id)
{
	(void)ctx;
	(void)c;
	return id % 2 == 0;
}

static int event_length(void *ctx, int64_t wall_us, const char *text)
{
	*(uint64_t *)ctx += strlen(text) + (uint64_t)wall_us;
	return 0;
}

/* Read every delivered cell. */
static uint64_t batch_sum(const struct lp_batch *b)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < b->n_kinds; i++) {
		const struct lp_batch_kind *k = &b->kinds[i];

		for (uint32_t row = 0; row < k->n_components; row++) {
			for (uint32_t s = 0; s < b->n_samples; s++) {
				size_t cell = (size_t)row * b->cap_samples + s;

				if (!k->state[cell])
					continue;
				for (uint32_t c = 0; c < k->n_columns; c++)
					sum += k->columns[c] ? (uint64_t)k->columns[c][cell] : 0;
			}
		}
	}
	return sum;
}

/* Read every value of a log. */
static int log_sum(void *ctx, const struct lp_log *log)
{
	uint64_t *sum = ctx;

	for (uint32_t f = 0; f < log->n_fields; f++) {
		for (uint32_t i = 0; i < log->n_records; i++) {
			if (log->ints[f])
				*sum += (uint64_t)log->ints[f][i];
			else if (log->texts[f][i].len)
				*sum += (uint64_t)log->texts[f][i].bytes[log->texts[f][i].len - 1];
		}
	}
	return 0;
}

static uint64_t read_all(const char *path, const struct lp_select *select)
{
	struct lp_source *source;
	struct lp_batch *batch;
	struct lp_err err = {0};
	uint64_t sum = 0;

	if (lp_archive_open(path, select, NULL, &source, &err) < 0)
		return 0;
	while (lp_source_next(source, &batch, &err) > 0)
		sum += batch_sum(batch);
	lp_archive_events(source, event_length, &sum, &err);
	lp_archive_logs(source, NULL, log_sum, &sum, &err);
	lp_archive_meta_get(source, "observer");
	lp_source_close(source);
	return sum;
}

/* One record for a log, which may already exist. */
static int append_log(struct lp_archive_writer *w, struct lp_err *err)
{
	static const struct lp_log_field field = {"seq", "", LP_LOG_INT};
	static const int64_t seq = 5;
	const int64_t *ints[] = {&seq};
	const struct lp_log_text *texts[] = {NULL};
	struct lp_log log = {.name = "calls",
		.fields = &field,
		.n_fields = 1,
		.n_records = 1,
		.ints = ints,
		.texts = texts};

	return lp_archive_write_log(w, &log, err);
}

/* Append one more sample. */
static void append(const char *path)
{
	struct lp_catalogue *catalogue = lp_catalogue_new();
	static const struct lp_column column = {"x", "", LP_COUNTER, 64};
	static const struct lp_schema schema = {"disk", &column, 1};
	struct lp_batch *b = lp_batch_new(1);
	struct lp_archive_writer *w;
	struct lp_batch_kind *k;
	struct lp_err err = {0};
	uint32_t id, row;

	if (lp_archive_append(path, &w, &err) == 0) {
		lp_catalogue_add_schema(catalogue, &schema, &id, &err);
		lp_catalogue_add_component(catalogue, id, "h", "a", "", &id, &err);
		lp_batch_add_sample(b, 1, 1);
		lp_batch_kind_get(b, 0, 1, NULL, &k);
		lp_batch_add_component(b, k, id, &row);
		k->state[0] = LP_PRESENT;
		k->columns[0][0] = 1;
		if (lp_archive_write(w, catalogue, b, LP_ARCHIVE_LOOSE, &err) < 0 ||
			append_log(w, &err) < 0)
			lp_archive_abandon(w);
		else if (lp_archive_close(w, &err) == 0)
			read_all(path, NULL);
	}
	lp_batch_free(b);
	lp_catalogue_free(catalogue);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	static char path[40], repaired[64];
	struct lp_select select = {
		.from_us = 1304899207000000, .column = odd_column, .component = even_component};
	struct lp_archive_report report;
	struct lp_err err = {0};

	if (fd < 0) {
		fd = memfd_create("archive", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		snprintf(repaired, sizeof(repaired), "/dev/shm/fuzz-archive-%d", (int)getpid());
	}
	if (ftruncate(fd, 0) < 0 || file_pwrite_full(fd, data, size, 0) < 0)
		return 0;
	read_all(path, NULL);
	read_all(path, &select);
	if (size % 4 == 0) {
		lp_archive_check(path, repaired, NULL, &report, &err);
		if (size % 8 == 0)
			lp_archive_seal(repaired, NULL, &err);
		unlink(repaired);
	} else {
		lp_archive_check(path, NULL, NULL, &report, &err);
	}
	append(path);
	return 0;
}
