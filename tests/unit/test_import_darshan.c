#include "import_text.h"
#include <errno.h>

#define HEAD                                                                                       \
	"# darshan log version: 3.41\n# exe: ./a.out\n# jobid: 77\n# start_time: 1000000000\n# "   \
	"end_time: 1000000010\n# nprocs: 2\n# mount entry:\t/mnt/scratch\tlustre\n"
#define RECORD(rank, id, counter, value)                                                           \
	"POSIX\t" rank "\t" id "\tPOSIX_" counter "\t" value                                       \
	"\t/mnt/scratch/f\t/mnt/scratch\tlustre\n"
#define OST(rank, id, number, ost)                                                                 \
	"LUSTRE\t" rank "\t" id "\tLUSTRE_OST_ID_" number "\t" ost                                 \
	"\t/mnt/scratch/f\t/mnt/scratch\tlustre\n"

/* Rank 0 writes 10 MB in 4 s of calls between 2 and 6 s, to OST 10; rank 1 reads from OSTs 1 and 2.
 */
static void test_log(void **state)
{
	struct text_file f;
	struct lp_batch *b;

	(void)state;
	text_file_open(&f, "darshan",
		HEAD RECORD("0", "11", "BYTES_WRITTEN", "10000000") RECORD("0", "11",
			"F_WRITE_TIME", "4.0") RECORD("0", "11", "F_WRITE_START_TIMESTAMP", "2.0")
			RECORD("0", "11", "F_WRITE_END_TIMESTAMP", "6.0") OST("0", "11", "0", "10")
				RECORD("1", "12", "BYTES_READ", "2000000") RECORD("1", "12",
					"F_READ_TIME",
					"0.5") RECORD("1", "12", "F_READ_START_TIMESTAMP", "1.0")
					RECORD("1", "12", "F_READ_END_TIMESTAMP", "1.5")
						OST("1", "12", "0", "1") OST("1", "12", "1", "2"));
	b = text_file_batch(&f);
	assert_int_equal(b->n_samples, 11);
	assert_int_equal(f.source->interval_us, 1000000);
	assert_true(b->wall_us[0] == INT64_C(1000000001000000));
	/* 1 s of calls for 2.5 MB in each second. */
	assert_true(fabs(text_file_value(&f, b, "scratch/ost:OST000a", "write_latency", 3) - 400) <
		1e-6);
	assert_true(
		fabs(text_file_value(&f, b, "scratch/ost:OST000a", "write_bytes", 3) - 2.5e6) < 1);
	assert_true(text_file_value(&f, b, "scratch/ost:OST000a", "write_bytes", 7) == 0);
	assert_true(isnan(text_file_value(&f, b, "scratch/ost:OST000a", "write_latency", 7)));
	assert_true(fabs(text_file_value(&f, b, "scratch/ost:OST0001", "read_bytes", 1) - 1e6) < 1);
	assert_true(fabs(text_file_value(&f, b, "scratch/ost:OST0002", "read_latency", 1) - 250) <
		1e-6);
	assert_true(fabs(text_file_value(&f, b, "77/rank:1", "read_bytes", 1) - 2e6) < 1);
	assert_int_equal(lp_source_next(f.source, &b, &f.err), 0);
	text_file_close(&f);
}

static void test_bad(void **state)
{
	struct text_file f;

	(void)state;
	text_file_open(&f, "darshan", HEAD);
	assert_int_equal(f.r, -ENODATA);
	text_file_close(&f);
	text_file_open(
		&f, "darshan", "# darshan log version: 3\n" RECORD("0", "1", "BYTES_READ", "1"));
	assert_int_equal(f.r, -EBADMSG);
	text_file_close(&f);
	text_file_open(&f, "darshan",
		HEAD RECORD("0", "1", "BYTES_READ", "many") "short line\n" RECORD(
			"0", "1", "F_READ_TIME", "1"));
	assert_int_equal(f.r, 0);
	assert_int_equal(f.warn.count, 2);
	text_file_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_log),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
