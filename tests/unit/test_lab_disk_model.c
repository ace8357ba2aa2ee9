/* All in simulated time: the model knows no clock. */
#include "lab/disk_model.h"
#include "unit.h"

#define MS INT64_C(1000000)
#define SECOND (1000 * MS)
#define GIB (UINT64_C(1) << 30)
#define CHUNK (128U << 10)
#define CHUNK_NS 4369067 /* of 128 KiB at 30 MB/s */

static const struct disk_params usual = {
	.size_bytes = 2 * GIB,
	.bandwidth_bytes = 30000000,
	.seek_min_us = 2000,
	.seek_max_us = 6000,
	.seed = 7,
};

static struct disk_model disk_with(struct disk_trouble t)
{
	struct disk_model m;

	disk_model_init(&m, &usual, 0);
	disk_model_set(&m, &t, 0);
	return m;
}

/* One reader that sends its next request as soon as it gets an answer: bytes until `until_ns`. */
static uint64_t read_on(struct disk_model *m, int64_t now_ns, int64_t until_ns)
{
	uint64_t at = 0;

	while (now_ns < until_ns) {
		now_ns = disk_model_serve(m, now_ns, at % GIB, CHUNK);
		at += CHUNK;
	}
	return at;
}

static void test_sequential(void **state)
{
	struct disk_model m = disk_with(DISK_TROUBLE_NONE);
	int64_t now = 0;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		int64_t done = disk_model_serve(&m, now, i * CHUNK, CHUNK);

		assert_in_range(done - now, CHUNK_NS - 1, CHUNK_NS + 1);
		now = done;
	}
	assert_in_range(1000 * (int64_t)CHUNK * SECOND / now, 29999000, 30001000);
}

static void test_seeks(void **state)
{
	struct disk_model m = disk_with(DISK_TROUBLE_NONE);
	int64_t now = 0, sum_near = 0, sum_far = 0;
	uint64_t at = 0;

	(void)state;
	for (unsigned i = 0; i < 2000; i++) {
		uint64_t next = i % 2 ? at + 4096 + CHUNK : (at + GIB) % (2 * GIB);
		int64_t took = disk_model_serve(&m, now, next, CHUNK) - now;

		at = next;
		now += took;
		assert_in_range(took, CHUNK_NS + 2 * MS - 1, CHUNK_NS + 6 * MS + 1);
		*(i % 2 ? &sum_near : &sum_far) += took - CHUNK_NS;
	}
	/* Rotation alone: 3 ms on average; half of the disk adds more than a millisecond. */
	assert_in_range(sum_near / 1000, 29 * MS / 10, 31 * MS / 10);
	assert_in_range(sum_far / 1000, sum_near / 1000 + MS, 6 * MS);
}

static void test_seek_of_nothing(void **state)
{
	struct disk_params p = usual;
	struct disk_model m;

	(void)state;
	p.seek_min_us = p.seek_max_us = 0;
	disk_model_init(&m, &p, 5);
	assert_in_range(disk_model_serve(&m, 5, GIB, CHUNK), CHUNK_NS + 4, CHUNK_NS + 6);
}

/* Several files that are written at once, 4 MB each, in turns of 1 MiB: a seek a turn. */
static void test_streams_in_turns(void **state)
{
	struct disk_model m = disk_with(DISK_TROUBLE_NONE);
	int64_t now = 0;

	(void)state;
	for (uint64_t turn = 0; turn < 100; turn++) {
		for (uint64_t i = 0; i < 8; i++)
			now = disk_model_serve(&m, now,
				turn % 4 * (64 << 20) + turn / 4 * (8 * CHUNK) + i * CHUNK, CHUNK);
	}
	assert_in_range(
		now, 800 * (int64_t)CHUNK_NS + 99 * 2 * MS, 801 * (int64_t)CHUNK_NS + 100 * 6 * MS);
}

static void test_queue(void **state)
{
	struct disk_model m = disk_with(DISK_TROUBLE_NONE);
	int64_t last = 0;

	(void)state;
	for (uint64_t i = 0; i < 32; i++) { /* all at once, one after the other */
		int64_t done = disk_model_serve(&m, 10, i * CHUNK, CHUNK);

		assert_in_range(done, last + CHUNK_NS - 1, last + CHUNK_NS + 11);
		last = done;
	}
	/* After a pause it begins when it is asked. */
	assert_in_range(disk_model_serve(&m, last + SECOND, 32 * CHUNK, CHUNK),
		last + SECOND + CHUNK_NS - 1, last + SECOND + CHUNK_NS + 1);
}

static void test_slow(void **state)
{
	struct disk_model fast = disk_with(DISK_TROUBLE_NONE);
	struct disk_model slow = disk_with((struct disk_trouble){.slow = 4});

	(void)state;
	for (uint64_t i = 0; i < 100; i++) {
		int64_t now = (int64_t)i * SECOND;
		int64_t quick = disk_model_serve(&fast, now, i * i % 97 * (1 << 20), CHUNK) - now;
		int64_t late = disk_model_serve(&slow, now, i * i % 97 * (1 << 20), CHUNK) - now;

		assert_in_range(late, 4 * quick - 4, 4 * quick + 4);
	}
}

static void test_set_keeps_promises(void **state)
{
	struct disk_model m = disk_with(DISK_TROUBLE_NONE);
	int64_t first = disk_model_serve(&m, 0, 0, CHUNK);

	(void)state;
	disk_model_set(&m, &(struct disk_trouble){.slow = 0.001}, 1);
	assert_in_range(disk_model_serve(&m, 1, CHUNK, CHUNK), first, first + CHUNK_NS / 999);
}

static void test_busy_share(void **state)
{
	static const double shares[] = {0.2, 0.5, 0.8, 0.95};
	struct disk_model idle = disk_with(DISK_TROUBLE_NONE);
	double alone = (double)read_on(&idle, 0, 600 * SECOND);

	(void)state;
	for (unsigned i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		struct disk_trouble t = {.slow = 1, .busy = shares[i]};
		struct disk_model m = disk_with(t);
		double rest = (double)read_on(&m, 0, 600 * SECOND) / alone;

		/* Less than the rest, because the head was moved away. */
		assert_true(rest < 1.02 * (1 - shares[i]));
		assert_true(rest > 0.5 * (1 - shares[i]));
	}
}

/* Now and then a request, to a disk that hidden reads keep busy half of the time. */
static void test_busy_while_idle(void **state)
{
	struct disk_model m = disk_with((struct disk_trouble){.slow = 1, .busy = 0.5});
	unsigned waited = 0;
	int64_t sum = 0;

	(void)state;
	for (int64_t i = 1; i <= 2000; i++) {
		int64_t now = i * SECOND;
		int64_t took = disk_model_serve(&m, now, 0, 4096) - now;

		assert_true(took >= 2 * MS); /* never in place */
		waited += took > 7 * MS;
		sum += took;
	}
	assert_in_range(waited, 600, 1400);
	assert_in_range(sum / 2000, 8 * MS, 60 * MS);
}

static void test_stalls(void **state)
{
	struct disk_trouble t = {.slow = 1, .stall_every_ms = 5000, .stall_for_ms = 1000};
	struct disk_model m = disk_with(t);
	int64_t now = 0, last = 0;
	unsigned stalls = 0;

	(void)state;
	for (uint64_t i = 0; now < 1000 * SECOND; i++) {
		int64_t done = disk_model_serve(&m, now, i * CHUNK % GIB, CHUNK);

		if (done - now > 100 * MS) {
			assert_in_range(done - now, SECOND, SECOND + CHUNK_NS + 6 * MS + 2);
			assert_true(last == 0 || done - last >= 2500 * MS - 10 * MS);
			last = done;
			stalls++;
		}
		now = done;
	}
	assert_in_range(stalls, 170, 230);
}

/* Who comes in the middle of a stall waits for the rest of it. */
static void test_stall_of_idle_disk(void **state)
{
	struct disk_trouble t = {.slow = 1, .stall_every_ms = 4000, .stall_for_ms = 2000};
	struct disk_model m = disk_with(t);
	unsigned waited = 0;

	(void)state;
	for (int64_t i = 1; i <= 1000; i++) {
		int64_t now = i * 7 * SECOND;
		int64_t took = disk_model_serve(&m, now, 0, 4096) - now;

		assert_in_range(took, 0, 4 * SECOND);
		waited += took > 10 * MS;
	}
	assert_in_range(waited, 350, 650);
}

/* Everything at once, and long pauses: never backwards, and it comes to an end. */
static void test_forward(void **state)
{
	struct disk_trouble t = {
		.slow = 2, .busy = DISK_BUSY_MAX, .stall_every_ms = 2, .stall_for_ms = 1};
	struct disk_model m = disk_with(t);
	int64_t now = 0, last = 0;

	(void)state;
	for (uint64_t i = 0; i < 3000; i++) {
		int64_t done = disk_model_serve(&m, now, i * 7919 * 4096 % (2 * GIB), CHUNK);

		assert_true(done > now && done > last);
		last = done;
		now += i % 100 == 0 ? 100000 * SECOND : (int64_t)(i % 7) * 100 * MS;
	}
	disk_model_set(&m, &DISK_TROUBLE_NONE, now);
	assert_true(disk_model_serve(&m, now, 0, CHUNK) > last);
}

static void test_seed(void **state)
{
	struct disk_trouble t = {
		.slow = 1, .busy = 0.3, .stall_every_ms = 1000, .stall_for_ms = 100};
	struct disk_params p = usual;
	struct disk_model a = disk_with(t), b = disk_with(t), c;
	unsigned different = 0;

	(void)state;
	p.seed++;
	disk_model_init(&c, &p, 0);
	disk_model_set(&c, &t, 0);
	for (uint64_t i = 0; i < 500; i++) {
		int64_t now = (int64_t)i * 50 * MS;
		int64_t done = disk_model_serve(&a, now, i * i * CHUNK % GIB, CHUNK);

		assert_true(disk_model_serve(&b, now, i * i * CHUNK % GIB, CHUNK) == done);
		different += disk_model_serve(&c, now, i * i * CHUNK % GIB, CHUNK) != done;
	}
	assert_in_range(different, 400, 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sequential),
		cmocka_unit_test(test_seeks),
		cmocka_unit_test(test_seek_of_nothing),
		cmocka_unit_test(test_streams_in_turns),
		cmocka_unit_test(test_queue),
		cmocka_unit_test(test_slow),
		cmocka_unit_test(test_set_keeps_promises),
		cmocka_unit_test(test_busy_share),
		cmocka_unit_test(test_busy_while_idle),
		cmocka_unit_test(test_stalls),
		cmocka_unit_test(test_stall_of_idle_disk),
		cmocka_unit_test(test_forward),
		cmocka_unit_test(test_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
