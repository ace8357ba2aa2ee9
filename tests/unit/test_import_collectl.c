#include "import_text.h"
#include <errno.h>

#define HEAD                                                                                       \
	"################\n# Collectl:   V4.3.1-1  HiRes: 1  Options: -sDN\n# Host:       oss3  "  \
	"DaemonOpts: \n# Date:       20261117-070331  Secs: 1794899011 TZ: "                       \
	"+0100\n################\n"

static void test_raw(void **state)
{
	struct text_file f;
	struct lp_batch *b;

	(void)state;
	text_file_open(&f, "collectl",
		HEAD ">>> 1794899012.004 <<<\n"
		     "disk  254       0 vda 10 0 80 20 5 0 40 10 0 7 30\n"
		     "Net     lo: 1 2 0 0 0 0 0 0 1 2 0 0 0 0 0 0\n"
		     "Net   eth0: 100 2 0 0 0 0 0 0 200 3 0 0 0 0 0 0\n"
		     "cpu 1 2 3\n"
		     ">>> 1794899013.001 <<<\n"
		     "disk  254       0 vda 20 0 160 40 5 0 40 10 0 9 50\n"
		     ">>> 1794899014.001 <<<\n");
	b = text_file_batch(&f);
	assert_int_equal(b->n_samples, 3);
	assert_int_equal(b->wall_us[0], INT64_C(1794899012004000));
	assert_int_equal(text_file_cell(&f, b, "oss3/disk:vda", "rd_ios", 1), 20);
	assert_int_equal(text_file_cell(&f, b, "oss3/disk:vda", "rd_ticks", 0), 20);
	assert_int_equal(text_file_cell(&f, b, "oss3/net:eth0", "tx_bytes", 0), 200);
	assert_int_equal(f.source->catalogue->n_components, 2);
	assert_int_equal(lp_source_next(f.source, &b, &f.err), 0);
	text_file_close(&f);
}

static void test_plot(void **state)
{
	struct text_file f;
	struct lp_batch *b;

	(void)state;
	text_file_open(&f, "collectl",
		HEAD "#Date Time [DSK:vda]Name [DSK:vda]Reads [DSK:vda]RKBytes [DSK:vda]Writes "
		     "[DSK:vda]Wait [DSK:sdb]Util\n"
		     "20261117 08:03:39 vda 145 10 5 2.5 7\n"
		     "20261117 08:03:40.500 vda 1 0 0 0 0\n"
		     "20261117 08:03:41 vda 1\n");
	b = text_file_batch(&f);
	assert_int_equal(b->n_samples, 2);
	assert_int_equal(b->wall_us[0], INT64_C(1794899019000000));
	assert_int_equal(b->wall_us[1], INT64_C(1794899020500000));
	assert_true(text_file_value(&f, b, "oss3/disk:vda", "tps", 0) == 150);
	assert_true(text_file_value(&f, b, "oss3/disk:vda", "rd_sec", 0) == 20);
	assert_true(text_file_value(&f, b, "oss3/disk:vda", "await", 0) == 2.5);
	assert_true(isnan(text_file_value(&f, b, "oss3/disk:vda", "%util", 0)));
	assert_true(text_file_value(&f, b, "oss3/disk:sdb", "%util", 0) == 7);
	assert_int_equal(lp_source_next(f.source, &b, &f.err), -EBADMSG);
	text_file_close(&f);
}

/* Longer than a batch: the last sample of one is the first of the next. */
static void test_batches(void **state)
{
	static char text[1 << 20];
	struct text_file f;
	struct lp_batch *b;
	size_t len = (size_t)snprintf(text, sizeof(text), HEAD);
	int samples = 0;

	(void)state;
	for (int i = 0; i < 1000; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
			">>> %d.5 <<<\ndisk 8 0 sda %d 0 0 0 0 0 0 0 0 0 0\n", 1000000000 + i, i);
	text_file_open(&f, "collectl", text);
	assert_int_equal(f.r, 0);
	while (lp_source_next(f.source, &b, &f.err) == 1) {
		assert_int_equal(b->carry, samples > 0);
		assert_int_equal(text_file_cell(&f, b, "oss3/disk:sda", "rd_ios", 0),
			samples ? samples - 1 : 0);
		samples += (int)b->n_samples - (b->carry ? 1 : 0);
	}
	assert_int_equal(samples, 1000);
	text_file_close(&f);
}

static void test_bad(void **state)
{
	struct text_file f;

	(void)state;
	text_file_open(&f, "collectl", ">>> 1.0 <<<\n");
	assert_int_equal(f.r, -EBADMSG);
	text_file_close(&f);
	text_file_open(&f, "collectl", HEAD "nothing\n");
	assert_int_equal(f.r, -ENODATA);
	text_file_close(&f);
	text_file_open(&f, "collectl", HEAD ">>> x <<<\n>>> 1794899012 <<<\ndisk 1 2\n");
	assert_int_equal(f.r, 0);
	assert_int_equal(f.warn.count, 2);
	text_file_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_raw),
		cmocka_unit_test(test_plot),
		cmocka_unit_test(test_batches),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
