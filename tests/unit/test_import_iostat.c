#include "import_text.h"
#include <errno.h>

#define HEAD12 "Linux 6.1.0 (oss3) \t11/17/26 \t_x86_64_\t(2 CPU)\n\n"
#define CPU                                                                                        \
	"avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n          28.63   33.22   "      \
	"31.54 \n\n"
#define COLUMNS12                                                                                  \
	"Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   "    \
	"wrqm/s  %wrqm w_await wareq-sz     d/s     dkB/s   drqm/s  %drqm d_await dareq-sz     "   \
	"f/s f_await  aqu-sz  %util\n"
#define VDA12                                                                                      \
	"vda  10.00 100.00 0 0 2.00 10 30.00 300.00 1 2 4.00 10 0.00 0.00 0 0 0.00 0 5 0.50 0.14 " \
	"3.17\n\n\n"

/* sysstat 12: await is made of those of reads and writes. The first report does not count. */
static void test_new(void **state)
{
	struct text_file f;
	struct lp_batch *b;

	(void)state;
	setenv("TZ", "UTC", 1);
	text_file_open(&f, "iostat",
		HEAD12 "11/17/26 07:03:21\n" CPU COLUMNS12 VDA12
		       "11/17/26 07:03:22\n" CPU COLUMNS12 VDA12
		       "11/17/26 07:03:23\n" CPU COLUMNS12 VDA12);
	b = text_file_batch(&f);
	assert_int_equal(b->n_samples, 2);
	assert_int_equal(f.source->interval_us, 1000000);
	assert_true(b->wall_us[0] == INT64_C(1794899002000000));
	assert_true(text_file_value(&f, b, "oss3/disk:vda", "tps", 0) == 40);
	assert_true(text_file_value(&f, b, "oss3/disk:vda", "rd_sec", 0) == 200);
	assert_true(text_file_value(&f, b, "oss3/disk:vda", "wr_sec", 1) == 600);
	assert_true(text_file_value(&f, b, "oss3/disk:vda", "await", 0) == 3.5);
	assert_true(text_file_value(&f, b, "oss3/disk:vda", "%util", 0) == 3.17);
	assert_true(text_file_value(&f, b, "oss3/disk:vda", "avgqu-sz", 0) == 0.14);
	assert_true(isnan(text_file_value(&f, b, "oss3/disk:vda", "svctm", 0)));
	assert_int_equal(lp_source_next(f.source, &b, &f.err), 0);
	text_file_close(&f);
}

/* sysstat 10 and 11, with a clock of twelve hours, megabytes and a decimal comma. */
static void test_old(void **state)
{
	static const char report[] =
		"Device:         rrqm/s   wrqm/s     r/s     w/s    rMB/s    wMB/s avgrq-sz "
		"avgqu-sz   "
		"await r_await w_await  svctm  %util\n"
		"sda 0,00 1,00 2,50 3,00 1,00 0,50 8,00 0,10 12,50 5,00 20,00 0,25 1,50\n\n";
	char text[4096];
	struct text_file f;
	struct lp_batch *b;

	(void)state;
	setenv("TZ", "America/Chicago", 1);
	snprintf(text, sizeof(text),
		"Linux 3.10.0 (n1.example) \t05/09/2011 \t_x86_64_\t(4 CPU)\n\n"
		"05/09/2011 12:00:05 AM\n%s05/09/2011 01:00:05 PM\n%s05/09/2011 01:00:15 PM\n%s",
		report, report, report);
	text_file_open(&f, "iostat", text);
	b = text_file_batch(&f);
	assert_int_equal(b->n_samples, 2);
	assert_true(b->wall_us[0] == INT64_C(1304964005000000));
	assert_true(text_file_value(&f, b, "n1.example/disk:sda", "await", 0) == 12.5);
	assert_true(text_file_value(&f, b, "n1.example/disk:sda", "rd_sec", 0) == 2048);
	assert_true(text_file_value(&f, b, "n1.example/disk:sda", "svctm", 0) == 0.25);
	text_file_close(&f);
	setenv("TZ", "UTC", 1);
}

/* When summer time ends, the clock shows an hour twice. */
static void test_summer_time_ends(void **state)
{
	struct text_file f;
	struct lp_batch *b;

	(void)state;
	setenv("TZ", "Europe/Berlin", 1);
	text_file_open(&f, "iostat",
		HEAD12
		"10/25/26 01:30:00\n" CPU COLUMNS12 VDA12 "10/25/26 02:00:00\n" CPU COLUMNS12 VDA12
		"10/25/26 02:30:00\n" CPU COLUMNS12 VDA12 "10/25/26 02:00:00\n" CPU COLUMNS12 VDA12
		"10/25/26 02:30:00\n" CPU COLUMNS12 VDA12
		"10/25/26 03:00:00\n" CPU COLUMNS12 VDA12);
	b = text_file_batch(&f);
	assert_int_equal(b->n_samples, 5);
	for (uint32_t i = 0; i < 5; i++) /* from 00:00 UTC on */
		assert_true(b->wall_us[i] == (INT64_C(1792886400) + i * 1800) * 1000000);
	assert_int_equal(lp_source_next(f.source, &b, &f.err), 0);
	text_file_close(&f);
	setenv("TZ", "UTC", 1);
}

/* The machine went down and left a hole of NUL bytes; iostat was started again after that. */
static void test_hole(void **state)
{
	static const char text[] = HEAD12
		"11/17/26 07:03:21\n" CPU COLUMNS12 VDA12 "11/17/26 07:03:22\n" CPU COLUMNS12 VDA12
		"11/17/26 07:0\0\0\0\0" HEAD12 "11/17/26 08:00:00\n" CPU COLUMNS12 VDA12
		"11/17/26 08:00:01\n" CPU COLUMNS12 VDA12 "11/17/26 08:00:02\n" CPU COLUMNS12 VDA12;
	struct text_file f;
	struct lp_batch *b;

	(void)state;
	text_file_open_bytes(&f, "iostat", text, sizeof(text) - 1);
	b = text_file_batch(&f);
	assert_int_equal(b->n_samples, 3); /* not those since the machine started */
	assert_true(b->wall_us[1] == INT64_C(1794902401000000));
	assert_int_equal(lp_source_next(f.source, &b, &f.err), -EBADMSG);
	assert_non_null(strstr(f.err.text, "there are NUL bytes"));
	text_file_close(&f);
}

static void test_json(void **state)
{
	static const char text[] =
		"{\"sysstat\": {\"hosts\": [{\"nodename\": \"vm\", \"date\": \"2026-11-17\", "
		"\"statistics\": ["
		"{\"timestamp\": \"2026-11-17T07:03:22+0000\", \"disk\": [{\"disk_device\": \"a\", "
		"\"r/s\": 1, \"w/s\": 1, \"r_await\": 9, \"w_await\": 9, \"util\": 1}]},"
		"{\"timestamp\": \"2026-11-17T07:03:23+0000\", \"disk\": ["
		"{\"disk_device\": \"a\", \"r/s\": 1, \"w/s\": 3, \"r_await\": 4, \"w_await\": 8, "
		"\"util\": 2.5},"
		"{\"disk_device\": \"b\", \"r/s\": 0, \"w/s\": 0, \"r_await\": 0, \"w_await\": 0, "
		"\"util\": 0}]}]}]}}";
	struct text_file f;
	struct lp_batch *b;

	(void)state;
	text_file_open(&f, "iostat", text);
	b = text_file_batch(&f);
	assert_int_equal(b->n_samples, 1);
	assert_true(text_file_value(&f, b, "vm/disk:a", "await", 0) == 7);
	assert_true(text_file_value(&f, b, "vm/disk:a", "%util", 0) == 2.5);
	assert_true(text_file_value(&f, b, "vm/disk:b", "await", 0) == 0);
	text_file_close(&f);
}

static void check_refused(const char *text, const char *words)
{
	struct text_file f;

	text_file_open(&f, "iostat", text);
	assert_true(f.r < 0);
	if (!strstr(f.err.text, words))
		fail_msg("'%s' does not say '%s'", f.err.text, words);
	text_file_close(&f);
}

static void test_bad(void **state)
{
	struct text_file f;
	struct lp_batch *b;

	(void)state;
	check_refused(HEAD12 CPU COLUMNS12 VDA12, "run it with -t");
	check_refused("hello\n", "no report of iostat");
	check_refused("{\"sysstat\": 1}", "not iostat's");
	check_refused("{\"sysstat\": ", "this is not JSON");
	check_refused(HEAD12 "11/17/26 07:03:21\n" COLUMNS12 VDA12, "no report of iostat");
	/* A line that was cut off is left out, and reported. */
	text_file_open(&f, "iostat",
		HEAD12 "11/17/26 07:03:21\n" COLUMNS12 VDA12 "11/17/26 07:03:22\n" COLUMNS12
		       "vdb 1.00 2.00\n" VDA12 "11/17/26 07:03:22\n" COLUMNS12 VDA12);
	b = text_file_batch(&f);
	assert_int_equal(b->n_samples, 1);
	assert_int_equal(b->kinds[0].n_components, 1);
	assert_int_equal(lp_source_next(f.source, &b, &f.err), -EBADMSG);
	assert_non_null(strstr(f.err.text, "2 bad lines"));
	assert_non_null(strstr(f.err.text, "line 10: 3 columns where 23 are expected"));
	assert_int_equal(f.warn.count, 2);
	text_file_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_new),
		cmocka_unit_test(test_old),
		cmocka_unit_test(test_summer_time_ends),
		cmocka_unit_test(test_hole),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
