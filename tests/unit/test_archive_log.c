#include "log_rig.h"

#include "archive/frames.h"
#include "archive/log.h"
#include "base/crc32c.h"

static struct lp_archive_writer *create(const char *path)
{
	struct lp_archive_writer *w;
	struct lp_err err = {0};

	unlink(path);
	if (lp_archive_create(path, &truth_meta, &w, &err) < 0)
		fail_msg("%s", err.text);
	return w;
}

static struct lp_archive_writer *reopen(const char *path)
{
	struct lp_archive_writer *w;
	struct lp_err err = {0};

	if (lp_archive_append(path, &w, &err) < 0)
		fail_msg("%s", err.text);
	return w;
}

static void finish(struct lp_archive_writer *w)
{
	struct lp_err err = {0};

	if (lp_archive_close(w, &err) < 0)
		fail_msg("%s", err.text);
}

/* An encoded frame and its decoder. */
struct coded {
	struct log_encoder *e;
	struct log_decoder *d;
	struct frame f;
	uint8_t *payload; /* a copy */
};

static void coded_release(struct coded *c)
{
	log_encoder_free(c->e);
	log_decoder_free(c->d);
	free(c->payload);
}

static void coded_make(struct coded *c, const struct lp_log *log, enum lp_archive_density density)
{
	const uint8_t *frame;
	size_t size;
	struct lp_err err = {0};

	*c = (struct coded){.e = log_encoder_new(), .d = log_decoder_new()};
	if (log_encode(c->e, log, density, &frame, &size, &c->f, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(size, FRAME_HEADER_SIZE + c->f.payload_size);
	c->payload = malloc(c->f.payload_size);
	memcpy(c->payload, frame + FRAME_HEADER_SIZE, c->f.payload_size);
}

static int coded_decode(struct coded *c, struct lp_log *ret)
{
	struct lp_err err = {0};

	return log_decode(c->d, &c->f, payload_read_memory, c->payload, ret, &err);
}

static void test_there_and_back(void **state)
{
	static const uint32_t sizes[] = {1, 2, 7, 300, 5000};

	(void)state;
	for (unsigned i = 0; i < 2 * ARRAY_SIZE(sizes); i++) {
		_cleanup_(log_rig_release) struct log_rig r;
		_cleanup_(coded_release) struct coded c;
		struct log_place place;
		struct lp_log log;
		struct lp_err err = {0};

		log_rig_make(&r, "calls", i * 1000, sizes[i / 2]);
		coded_make(&c, &r.log, i % 2 ? LP_ARCHIVE_DENSE : LP_ARCHIVE_LOOSE);
		assert_int_equal(c.f.type, FRAME_LOG);
		assert_int_equal(c.f.flags, i % 2 ? 0 : FRAME_PACKED);
		assert_int_equal(coded_decode(&c, &log), 0);
		assert_string_equal(log.name, "calls");
		assert_int_equal(log.first_record, i * 1000);
		assert_int_equal(log.n_records, sizes[i / 2]);
		assert_int_equal(log.first_us, r.log.first_us);
		assert_int_equal(log.last_us, r.log.last_us);
		log_rig_check(&log);
		assert_int_equal(
			log_locate(c.d, &c.f, payload_read_memory, c.payload, &place, &err), 0);
		assert_string_equal(place.name, "calls");
		assert_int_equal(place.first_record, i * 1000);
	}
}

/* Many texts, more than any first guess at a dictionary. */
static void test_large_dictionary(void **state)
{
	enum { N = 70000 };
	static const struct lp_log_field fields[] = {{"t", "", LP_LOG_TEXT}};
	struct lp_log_text *texts = calloc(N, sizeof(*texts));
	const struct lp_log_text *columns[] = {texts};
	const int64_t *none[] = {NULL};
	struct lp_log log = {.name = "x",
		.fields = fields,
		.n_fields = 1,
		.n_records = N,
		.ints = none,
		.texts = columns};
	char(*bytes)[16] = calloc(N, sizeof(*bytes));
	_cleanup_(coded_release) struct coded c;
	struct lp_log got;

	(void)state;
	for (int i = 0; i < N; i++)
		texts[i] = (struct lp_log_text){
			bytes[i], (uint32_t)snprintf(bytes[i], 16, "/d/f%d", i / 2)};
	coded_make(&c, &log, LP_ARCHIVE_DENSE);
	assert_int_equal(coded_decode(&c, &got), 0);
	for (int i = 0; i < N; i++) {
		assert_int_equal(got.texts[0][i].len, texts[i].len);
		assert_memory_equal(got.texts[0][i].bytes, texts[i].bytes, texts[i].len);
		assert_ptr_equal(got.texts[0][i].bytes, got.texts[0][i & ~1].bytes);
	}
	free(texts);
	free(bytes);
}

static void test_refuses(void **state)
{
	_cleanup_(log_rig_release) struct log_rig r;
	struct log_encoder *e = log_encoder_new();
	struct lp_err err = {0};
	const uint8_t *frame;
	size_t size;
	struct frame f;
	struct lp_log log;

	(void)state;
	log_rig_make(&r, "calls", 0, 3);
	log = r.log;
	log.n_records = 0;
	assert_int_equal(log_encode(e, &log, LP_ARCHIVE_LOOSE, &frame, &size, &f, &err), -EINVAL);
	log = r.log;
	log.name = "";
	assert_int_equal(log_encode(e, &log, LP_ARCHIVE_LOOSE, &frame, &size, &f, &err), -EINVAL);
	log = r.log;
	log.ints = (const int64_t *const[LOG_RIG_FIELDS]){NULL};
	assert_int_equal(log_encode(e, &log, LP_ARCHIVE_LOOSE, &frame, &size, &f, &err), -EINVAL);
	log = r.log;
	log.n_fields = LP_LOG_FIELDS_MAX + 1;
	assert_int_equal(log_encode(e, &log, LP_ARCHIVE_LOOSE, &frame, &size, &f, &err), -E2BIG);
	log = r.log;
	log.n_records = LP_LOG_RECORDS_MAX + 1;
	assert_int_equal(log_encode(e, &log, LP_ARCHIVE_LOOSE, &frame, &size, &f, &err), -E2BIG);
	log_encoder_free(e);
}

/* Whatever single byte is wrong, it is noticed. */
static void test_damage(void **state)
{
	_cleanup_(log_rig_release) struct log_rig r;

	(void)state;
	log_rig_make(&r, "calls", 0, 20);
	for (int dense = 0; dense < 2; dense++) {
		_cleanup_(coded_release) struct coded c;
		struct lp_log log;

		coded_make(&c, &r.log, dense ? LP_ARCHIVE_DENSE : LP_ARCHIVE_LOOSE);
		for (uint32_t i = 0; i < c.f.payload_size; i++) {
			c.payload[i] ^= 0x10;
			assert_int_equal(coded_decode(&c, &log), -EBADMSG);
			c.payload[i] ^= 0x10;
		}
		c.f.flags |= 0x40;
		assert_int_equal(coded_decode(&c, &log), -EBADMSG);
		c.f.flags &= FRAME_PACKED;
		c.f.n_samples++;
		assert_int_equal(coded_decode(&c, &log), -EBADMSG);
		c.f.n_samples = 0;
		assert_int_equal(coded_decode(&c, &log), -EBADMSG);
		c.f.n_samples = UINT32_MAX;
		assert_int_equal(coded_decode(&c, &log), -EBADMSG);
	}
}

/* A frame put together by hand, from chunk 0 on. */
static int decode_by_hand(const char *name, const struct strbuf *chunk, uint32_t n, uint8_t flags,
	struct log_decoder *d, struct lp_log *ret)
{
	struct chunk_writer w;
	struct frame f = {.type = FRAME_LOG, .flags = flags, .n_samples = n};
	struct lp_err err = {0};
	int r;

	assert_int_equal(chunk_writer_init(&w), 0);
	chunk_writer_begin(&w, 1);
	put_string(&w.tail, name);
	put_varint(&w.tail, 0);
	strbuf_add(&w.raw, chunk->text, chunk->len);
	assert_int_equal(chunk_writer_end_chunk(&w), 0);
	assert_int_equal(chunk_writer_finish(&w, &f), 0);
	r = log_decode(d, &f, payload_read_memory, w.frame.text + FRAME_HEADER_SIZE, ret, &err);
	chunk_writer_release(&w);
	return r;
}

static void field_by_hand(struct strbuf *sb, const char *name, uint8_t type)
{
	put_string(sb, name);
	put_string(sb, "unit");
	strbuf_putc(sb, (char)type);
	put_string(sb, "later");
}

/* Fields of types of the future are left out, and what they left behind the fields is skipped. */
static void test_future(void **state)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};
	struct log_decoder *d = log_decoder_new();
	struct lp_log log;

	(void)state;
	put_varint(&sb, 2);
	field_by_hand(&sb, "new", 9);
	field_by_hand(&sb, "old", LP_LOG_INT);
	put_varint(&sb, 3);
	strbuf_puts(&sb, "???");
	put_varint(&sb, 5);
	strbuf_add(&sb, "\1\1\6\0", 4); /* a dictionary of one, which is 3 */
	sb.text[sb.len - 4 - 1] = 4;
	strbuf_puts(&sb, "and more");
	assert_int_equal(decode_by_hand("x", &sb, 2, FRAME_PACKED, d, &log), 0);
	assert_int_equal(log.n_fields, 1);
	assert_string_equal(log.fields[0].name, "old");
	assert_string_equal(log.fields[0].unit, "unit");
	assert_int_equal(log.ints[0][0], 3);
	assert_int_equal(log.ints[0][1], 3);
	assert_null(log.texts[0]);
	log_decoder_free(d);
}

/* Sound checksums around nonsense. */
static void test_nonsense(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		uint8_t type;
	} fields[] = {
		{"", 0, LP_LOG_INT}, {"\2", 1, LP_LOG_INT},	  /* an unknown coding */
		{"\0\0\0\0\0\0\0", 7, LP_LOG_TEXT},		  /* texts are no column */
		{"\1\0\0", 3, LP_LOG_INT},			  /* a dictionary of nothing */
		{"\1\3\0\0\0\0", 6, LP_LOG_INT},		  /* more entries than records */
		{"\1\1\0\1\0\1", 6, LP_LOG_INT},		  /* an index that is too large */
		{"\1\1\0\1\0", 5, LP_LOG_INT},			  /* cut short */
		{"\1\1\0\1\0\0\0", 7, LP_LOG_INT},		  /* too long */
		{"\1\1\0\5\0\0\0\0\0\0\0\0\0\0", 14, LP_LOG_INT}, /* too wide */
		{"\1\1\5abc\0", 7, LP_LOG_TEXT},		  /* a text that is cut short */
		{"\1\1\xff\xff\xff\xff\x7f\0", 8, LP_LOG_TEXT},	  /* or impossible */
		{"\0\1\0\0\0\0\0", 7, LP_LOG_INT},		  /* a column of reals */
	};
	struct log_decoder *d = log_decoder_new();
	struct lp_log log;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		_cleanup_(strbuf_release) struct strbuf sb = {0};

		put_varint(&sb, 1);
		field_by_hand(&sb, "f", fields[i].type);
		put_varint(&sb, fields[i].len);
		strbuf_add(&sb, fields[i].bytes, fields[i].len);
		assert_int_equal(decode_by_hand("x", &sb, 2, FRAME_PACKED, d, &log), -EBADMSG);
	}
	for (size_t i = 0; i < 3; i++) {
		_cleanup_(strbuf_release) struct strbuf sb = {0};

		put_varint(&sb, i == 2 ? 65 : i);
		field_by_hand(&sb, "f", 0);
		assert_int_equal(decode_by_hand("x", &sb, 2, 0, d, &log), -EBADMSG);
	}
	log_decoder_free(d);
}

/* Several logs and samples in one file; each is found by its name, in order. */
static void test_file(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(4, 100, TRUTH_ALL, 5);
	struct lp_archive_writer *w = create(test_path("f"));

	(void)state;
	truth_write(t, w, 0, 50, 10, LP_ARCHIVE_LOOSE);
	log_rig_write(w, "calls", 0, 1000, 300);
	log_rig_write(w, "descriptors", 0, 5, 1);
	truth_write(t, w, 50, 100, 10, LP_ARCHIVE_LOOSE);
	log_rig_write(w, "calls", 1000, 10, 10);
	finish(w);
	truth_check_file(t, test_path("f"), 100);
	assert_int_equal(log_rig_read(test_path("f"), "calls").next, 1010);
	assert_int_equal(log_rig_read(test_path("f"), "calls").n_frames, 5);
	assert_int_equal(log_rig_read(test_path("f"), "descriptors").next, 5);
	assert_int_equal(log_rig_read(test_path("f"), "none").next, 0);
}

/* A file with nothing else, not even closed. */
static void test_only_logs(void **state)
{
	_cleanup_(lp_source_closep) struct lp_source *s = NULL;
	struct lp_archive_writer *w = create(test_path("o"));
	struct lp_err err = {0};
	struct lp_batch *b;

	(void)state;
	log_rig_write(w, "calls", 0, 20, 10);
	lp_archive_abandon(w);
	assert_int_equal(log_rig_read(test_path("o"), "calls").next, 20);
	assert_int_equal(lp_archive_open(test_path("o"), NULL, NULL, &s, &err), 0);
	assert_string_equal(lp_archive_meta_get(s, "observer"), "host");
	assert_int_equal(s->first_us, TRUTH_START);
	assert_int_equal(s->last_us, TRUTH_START + 19 * LOG_RIG_SECOND);
	assert_int_equal(lp_source_next(s, &b, &err), 0);
}

/* Record numbers continue, even after an unfinished frame. */
static void test_append(void **state)
{
	struct lp_archive_writer *w = create(test_path("a"));
	struct stat st;

	(void)state;
	log_rig_write(w, "calls", 0, 30, 10);
	log_rig_write(w, "other", 0, 3, 3);
	finish(w);
	w = reopen(test_path("a"));
	log_rig_write(w, "calls", 30, 5, 5);
	lp_archive_abandon(w);
	w = reopen(test_path("a"));
	log_rig_write(w, "other", 3, 4, 4);
	log_rig_write(w, "calls", 35, 5, 5);
	lp_archive_abandon(w);
	assert_int_equal(stat(test_path("a"), &st), 0);
	assert_int_equal(truncate(test_path("a"), st.st_size - 1), 0);
	w = reopen(test_path("a"));
	log_rig_write(w, "calls", 35, 7, 7);
	finish(w);
	assert_int_equal(log_rig_read(test_path("a"), "calls").next, 42);
	assert_int_equal(log_rig_read(test_path("a"), "other").next, 7);
}

static int count_frames(void *ctx, const struct lp_log *log)
{
	log_rig_check(log);
	++*(unsigned *)ctx;
	return 0;
}

/* Frames that have no part in the time that is wanted are not read. */
static void test_select(void **state)
{
	static const struct {
		int64_t from, to;
		unsigned n;
	} cases[] = {{0, 0, 10}, {95, 0, 1}, {0, 10, 1}, {0, 11, 2}, {35, 41, 2}, {200, 300, 0}};
	struct lp_archive_writer *w = create(test_path("t"));

	(void)state;
	log_rig_write(w, "calls", 0, 100, 10);
	finish(w);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(lp_source_closep) struct lp_source *s = NULL;
		struct lp_select select = {.from_us = TRUTH_START + cases[i].from * LOG_RIG_SECOND,
			.to_us = cases[i].to ? TRUTH_START + cases[i].to * LOG_RIG_SECOND : 0};
		struct lp_err err = {0};
		unsigned n = 0;

		assert_int_equal(lp_archive_open(test_path("t"), &select, NULL, &s, &err), 0);
		assert_int_equal(lp_archive_logs(s, "calls", count_frames, &n, &err), 0);
		assert_int_equal(n, cases[i].n);
	}
}

static int stop_at_once(void *ctx, const struct lp_log *log)
{
	(void)ctx;
	return (int)log->n_records;
}

static void test_stop(void **state)
{
	_cleanup_(lp_source_closep) struct lp_source *s = NULL;
	struct lp_archive_writer *w = create(test_path("p"));
	struct lp_err err = {0};

	(void)state;
	log_rig_write(w, "calls", 0, 100, 17);
	finish(w);
	assert_int_equal(lp_archive_open(test_path("p"), NULL, NULL, &s, &err), 0);
	assert_int_equal(lp_archive_logs(s, NULL, stop_at_once, NULL, &err), 17);
}

static void count_warning(void *ctx, const char *text)
{
	if (strstr(text, "records of a log"))
		++*(unsigned *)ctx;
}

/* Where the payload of log frame `n` of a file begins. */
static struct frame log_frame(const char *path, unsigned n)
{
	_cleanup_close_ int fd = open(path, O_RDONLY);
	_cleanup_(frame_list_release) struct frame_list l = {0};
	struct lp_err err = {0};

	assert_int_equal(frame_list_load(fd, &l, &err), 0);
	for (size_t i = 0; i < l.n; i++) {
		if (l.items[i].type == FRAME_LOG && !n--)
			return l.items[i];
	}
	fail_msg("there are not so many log frames");
	return (struct frame){0};
}

static void flip(const char *path, uint64_t offset)
{
	_cleanup_close_ int fd = open(path, O_RDWR);
	uint8_t byte;

	assert_int_equal(pread(fd, &byte, 1, (off_t)offset), 1);
	byte ^= 1;
	assert_int_equal(pwrite(fd, &byte, 1, (off_t)offset), 1);
}

/* One frame of ten is damaged: it is reported, the others are read, checked and rescued. */
static void test_damaged_file(void **state)
{
	_cleanup_(lp_source_closep) struct lp_source *s = NULL;
	struct lp_archive_writer *w = create(test_path("d"));
	struct lp_archive_report report;
	unsigned n = 0, told = 0;
	struct lp_warn warn = {.warn = count_warning, .ctx = &told};
	struct lp_err err = {0};
	struct frame f;

	(void)state;
	log_rig_write(w, "calls", 0, 1000, 100);
	finish(w);
	assert_int_equal(lp_archive_check(test_path("d"), NULL, &warn, &report, &err), 0);
	assert_int_equal(report.n_records, 1000);
	f = log_frame(test_path("d"), 4);
	assert_in_range(report.log_bytes, 10 * FRAME_HEADER_SIZE, report.size_bytes);
	flip(test_path("d"), f.offset + FRAME_HEADER_SIZE + f.payload_size / 2);
	assert_int_equal(lp_archive_open(test_path("d"), NULL, &warn, &s, &err), 0);
	assert_int_equal(lp_archive_logs(s, "calls", count_frames, &n, &err), -EBADMSG);
	assert_int_equal(n, 9);
	assert_int_equal(told, 1);
	unlink(test_path("d2"));
	assert_int_equal(
		lp_archive_check(test_path("d"), test_path("d2"), &warn, &report, &err), -EBADMSG);
	assert_int_equal(told, 2);
	assert_int_equal(report.n_records, 900);
	assert_int_equal(report.n_damaged, 1);
	assert_int_equal(lp_archive_check(test_path("d2"), NULL, &warn, &report, &err), 0);
	assert_int_equal(report.n_records, 900);
}

/* Sealing merges small frames and keeps every record, in order. */
static void test_seal(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(3, 40, 0, 5);
	struct lp_archive_writer *w = create(test_path("s"));
	struct stat before, after;
	struct lp_err err = {0};

	(void)state;
	truth_write(t, w, 0, 40, 10, LP_ARCHIVE_LOOSE);
	for (uint32_t i = 0; i < 20; i++) {
		log_rig_write(w, "calls", i * 50, 50, 50);
		log_rig_write(w, "other", i, 1, 1);
	}
	finish(w);
	assert_int_equal(stat(test_path("s"), &before), 0);
	assert_int_equal(lp_archive_seal(test_path("s"), NULL, &err), 0);
	assert_int_equal(stat(test_path("s"), &after), 0);
	assert_true(after.st_size < before.st_size);
	truth_check_file(t, test_path("s"), 40);
	assert_int_equal(log_rig_read(test_path("s"), "calls").next, 1000);
	assert_int_equal(log_rig_read(test_path("s"), "calls").n_frames, 1);
	assert_int_equal(log_rig_read(test_path("s"), "other").next, 20);
	assert_int_equal(log_frame(test_path("s"), 0).flags, 0);
	/* A sealed one is left alone, one that goes on is sealed anew. */
	assert_int_equal(lp_archive_seal(test_path("s"), NULL, &err), 0);
	assert_int_equal(stat(test_path("s"), &before), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	w = reopen(test_path("s"));
	log_rig_write(w, "calls", 1000, 1, 1);
	finish(w);
	assert_int_equal(lp_archive_seal(test_path("s"), NULL, &err), 0);
	assert_int_equal(log_rig_read(test_path("s"), "calls").next, 1001);
	assert_int_equal(log_rig_read(test_path("s"), "calls").n_frames, 1);
}

static int keep_numbers(void *ctx, const struct lp_log *log)
{
	uint64_t **next = ctx;

	log_rig_check(log);
	*(*next)++ = log->first_record;
	*(*next)++ = log->n_records;
	return 0;
}

/* Numbers of records that are lost stay free when the rest is sealed. */
static void test_seal_keeps_numbers(void **state)
{
	_cleanup_(lp_source_closep) struct lp_source *s = NULL;
	struct lp_archive_writer *w = create(test_path("n"));
	struct lp_archive_report report;
	uint64_t numbers[8] = {0}, *next = numbers;
	struct lp_err err = {0};
	struct frame f;

	(void)state;
	log_rig_write(w, "calls", 0, 50, 10);
	lp_archive_abandon(w);
	f = log_frame(test_path("n"), 2);
	flip(test_path("n"), f.offset + FRAME_HEADER_SIZE);
	unlink(test_path("n2"));
	assert_int_equal(
		lp_archive_check(test_path("n"), test_path("n2"), NULL, &report, &err), -EBADMSG);
	assert_int_equal(lp_archive_seal(test_path("n2"), NULL, &err), 0);
	assert_int_equal(lp_archive_open(test_path("n2"), NULL, NULL, &s, &err), 0);
	assert_int_equal(lp_archive_logs(s, NULL, keep_numbers, &next, &err), 0);
	assert_int_equal(next - numbers, 4);
	assert_int_equal(numbers[0], 0);
	assert_int_equal(numbers[1], 20);
	assert_int_equal(numbers[2], 30);
	assert_int_equal(numbers[3], 20);
}

/* There cannot be any number of logs. */
static void test_too_many_logs(void **state)
{
	struct lp_archive_writer *w = create(test_path("m"));
	_cleanup_(log_rig_release) struct log_rig r;
	struct lp_err err = {0};
	char name[16];

	(void)state;
	log_rig_make(&r, name, 0, 1);
	for (int i = 0; i < LOG_LOGS_MAX; i++) {
		snprintf(name, sizeof(name), "log%d", i);
		assert_int_equal(lp_archive_write_log(w, &r.log, &err), 0);
	}
	snprintf(name, sizeof(name), "one more");
	assert_int_equal(lp_archive_write_log(w, &r.log, &err), -E2BIG);
	assert_non_null(strstr(err.text, "too many logs"));
	finish(w);
	assert_int_equal(lp_archive_seal(test_path("m"), NULL, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_large_dictionary),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_future),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_only_logs),
		cmocka_unit_test(test_append),
		cmocka_unit_test(test_select),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_damaged_file),
		cmocka_unit_test(test_seal),
		cmocka_unit_test(test_seal_keeps_numbers),
		cmocka_unit_test(test_too_many_logs),
	};

	return cmocka_run_group_tests(tests, test_dir_make, test_dir_remove);
}
