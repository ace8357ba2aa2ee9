#include "unit.h"

#include "import/sysstat_file.h"
#include "sa_writer.h"
#include <errno.h>

static const uint32_t disk_types[] = {3, 3, 8};

/* Open the first `len` bytes of what was written; the text of the error, "" if there is none. */
static const char *open_error(const void *data, size_t len, struct lp_err *err)
{
	struct sa_writer *w = calloc(1, sizeof(*w));
	char path[] = "/tmp/limpet-sa-XXXXXX";
	struct sysstat_file f;

	assert_non_null(w);
	memcpy(w->data, data, len);
	assert_true(sa_save(w, len, path));
	*err = (struct lp_err){0};
	if (sysstat_file_open(&f, path, err) == 0)
		sysstat_file_release(&f);
	else
		assert_non_null(strstr(err->text, path)); /* it says which file */
	unlink(path);
	free(w);
	return err->text;
}

static void write_start(struct sa_writer *w, uint32_t id, uint32_t nr, uint32_t size)
{
	w->len = 0;
	w->extra_next = true;
	memcpy(w->disk_types, disk_types, sizeof(disk_types));
	sa_begin(w, 1);
	sa_activity(w, id, 0x8c, nr, true, size, disk_types);
}

static void other_formats_are_explained(void **unused)
{
	struct sa_writer *w = calloc(1, sizeof(*w));
	struct lp_err err;

	(void)unused;
	assert_non_null(w);
	for (int big = 0; big < 2; big++) {
		w->big = big;
		w->format = 0x2170;
		write_start(w, 11, 1, 80);
		assert_non_null(strstr(open_error(w->data, 12, &err), "0x2170 of sysstat 12.6.1"));
		assert_non_null(strstr(err.text, "sysstat 9.1.6 and later"));
		w->format = 0x2176;
		write_start(w, 11, 1, 80);
		assert_non_null(strstr(open_error(w->data, w->len, &err), "newer"));
		w->format = 0;
		write_start(w, 11, 1, 80);
		assert_string_equal(open_error(w->data, w->len, &err), "");
	}
	/* What limpet can unpack itself is damaged. */
	assert_non_null(strstr(open_error("\xfd\x37zXZ\0....", 10, &err), "is damaged"));
	assert_non_null(strstr(open_error("\x1f\x8b......", 8, &err), "is damaged"));
	assert_non_null(strstr(open_error("BZh9......", 10, &err), "bzip2 -dk "));
	assert_non_null(strstr(open_error("hello world", 11, &err), "not a sysstat"));
	assert_non_null(strstr(open_error("", 0, &err), "not a sysstat"));
	free(w);
}

/* Overwrite one number of the start; the error must be `expected`. */
static void check_patch(size_t at, uint32_t number, const char *expected)
{
	struct sa_writer *w = calloc(1, sizeof(*w));
	struct lp_err err;
	size_t len;

	assert_non_null(w);
	write_start(w, 11, 2, 80);
	len = w->len;
	w->len = at;
	sa_u32(w, number);
	assert_non_null(strstr(open_error(w->data, len, &err), expected));
	assert_int_equal(err.code, -EBADMSG);
	free(w);
}

static void impossible_headers_are_refused(void **unused)
{
	const size_t ints = 76 + 16, activity = 76 + 16 + 48 + 3 + 4 * 65 + 8;

	(void)unused;
	check_patch(8, 0, "size of the header");
	check_patch(8, 8193, "size of the header");
	check_patch(16, 0x20000001, "size of the header");
	check_patch(8, 100, "too short for the name");
	check_patch(ints + 48, 0x4c050d08, "neither 4 nor 8");
	check_patch(ints + 4, 257, "contradicts itself");
	check_patch(ints + 4, 0, "contradicts itself");
	check_patch(ints + 36, 20, "contradicts itself");
	check_patch(ints + 40, 513, "contradicts itself");
	check_patch(ints + 40, 20, "contradicts itself");
	check_patch(ints + 44, 1, "extra structure"); /* there is none */
	check_patch(activity + 8, 0, "activity 11 cannot have");
	check_patch(activity + 8, 0x7fffffff, "activity 11 cannot have");
	check_patch(activity + 12, 5000, "activity 11 cannot have");
	check_patch(activity + 20, 79, "activity 11 cannot have");
	check_patch(activity + 20, 1025, "activity 11 cannot have");
	check_patch(activity + 24, 0xffffffff, "activity 11 cannot have");
}

/* Write one record behind the start and read it. */
static int read_record(
	struct sa_writer *w, bool wanted, struct sysstat_record *rec, struct lp_err *err)
{
	char path[] = "/tmp/limpet-sa-XXXXXX";
	struct sysstat_file f;
	int r;

	assert_true(sa_save(w, w->len, path));
	*err = (struct lp_err){0};
	assert_int_equal(sysstat_file_open(&f, path, err), 0);
	f.activities[0].wanted = wanted ? 0 : -1;
	r = sysstat_file_record(&f, f.records_at, rec, err);
	sysstat_file_release(&f);
	unlink(path);
	return r;
}

static void records_are_bounded(void **unused)
{
	struct sa_writer *w = calloc(1, sizeof(*w));
	struct sysstat_record rec;
	struct lp_err err;

	(void)unused;
	assert_non_null(w);
	write_start(w, 11, 1, 80);
	assert_int_equal(read_record(w, true, &rec, &err), 0);
	sa_record(w, SA_STATS, 12345, 1600000000, false);
	sa_u32(w, 2);
	sa_zeros(w, 160);
	assert_int_equal(read_record(w, true, &rec, &err), 1);
	assert_int_equal(rec.spans[0].n, 2);
	assert_int_equal(rec.uptime_cs, 12345);
	assert_int_equal(rec.end, w->len);
	w->len -= 164;
	sa_u32(w, 0xffffffff); /* -1 items */
	assert_int_equal(read_record(w, false, &rec, &err), -EBADMSG);
	w->len -= 4;
	sa_u32(w, 65537);
	assert_int_equal(read_record(w, true, &rec, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "impossible"));
	assert_int_equal(read_record(w, false, &rec, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "cut off"));
	free(w);
}

static void impossible_records_are_refused(void **unused)
{
	struct sa_writer *w = calloc(1, sizeof(*w));
	struct sysstat_record rec;
	struct lp_err err;
	size_t start;

	(void)unused;
	assert_non_null(w);
	write_start(w, 11, 1, 80);
	start = w->len;
	sa_record(w, 0, 1, 1600000000, false);
	assert_int_equal(read_record(w, true, &rec, &err), -EBADMSG);
	w->len = start;
	sa_record(w, SA_COMMENT, 1, UINT64_MAX, false);
	assert_int_equal(read_record(w, true, &rec, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "impossible time"));
	w->len = start;
	sa_record(w, SA_EXTRA, 1, 1600000000, true);
	for (int i = 0; i < 6; i++) /* more numbers than bytes */
		sa_u32(w, 3);
	assert_int_equal(read_record(w, true, &rec, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "extra structure"));
	w->len = start;
	sa_record(w, SA_COMMENT, 1, 1600000000, false);
	sa_zeros(w, 63);
	assert_int_equal(read_record(w, true, &rec, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "a comment"));
	free(w);
}

static void what_is_not_a_file(void **unused)
{
	struct lp_err err = {0};
	struct sysstat_file f;

	(void)unused;
	assert_int_equal(sysstat_file_open(&f, "/nonexistent/sa15", &err), -ENOENT);
	assert_int_equal(sysstat_file_open(&f, "/tmp", &err), -EISDIR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_formats_are_explained),
		cmocka_unit_test(impossible_headers_are_refused),
		cmocka_unit_test(records_are_bounded),
		cmocka_unit_test(impossible_records_are_refused),
		cmocka_unit_test(what_is_not_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
