#include "archive_util.h"

#include "archive/dense.h"
#include "archive/frames.h"

/* Batches of any lengths, some too large to gather, some not continuing the one before. */
static void test_gathers(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (unsigned round = 0; round < 6; round++) {
		_cleanup_(truth_freep) struct truth *t = truth_new(4, 2000, TRUTH_HOTPLUG, round);
		_cleanup_(dense_release) struct dense dense = {0};
		_cleanup_(frame_list_release) struct frame_list l = {0};
		_cleanup_close_ int fd = -1;
		struct lp_archive_writer *w;
		struct lp_err err = {0};
		size_t frames = 0;

		unlink(test_path("d"));
		assert_int_equal(lp_archive_create(test_path("d"), &truth_meta, &w, &err), 0);
		dense_init(&dense, w);
		for (uint32_t s = 0, n; s < 2000; s += n) {
			_cleanup_(lp_batch_freep) struct lp_batch *b = NULL;

			n = (uint32_t)(random_next(&seed) % (random_chance(&seed, 8) ? 900 : 30)) +
				1;
			n = s + n < 2000 ? n : 2000 - s;
			b = truth_batch(t, s, n, s > 0 && (round < 3 || random_next(&seed) % 9));
			assert_int_equal(dense_add(&dense, t->catalogue, b, &err), 0);
		}
		assert_int_equal(dense_flush(&dense, t->catalogue, &err), 0);
		assert_int_equal(lp_archive_close(w, &err), 0);
		truth_check_file(t, test_path("d"), 2000);
		fd = open(test_path("d"), O_RDONLY);
		assert_int_equal(frame_list_load(fd, &l, &err), 0);
		for (size_t i = 0; i < l.n; i++) {
			frames += l.items[i].type == FRAME_DATA;
			assert_true(l.items[i].n_samples <= 900);
		}
		assert_true(frames >= 3);
		if (round < 3)
			assert_true(frames < 30);
	}
}

static void test_nothing(void **state)
{
	_cleanup_(dense_release) struct dense dense = {0};
	_cleanup_(truth_freep) struct truth *t = truth_new(1, 1, 0, 0);
	struct lp_archive_writer *w;
	struct lp_err err = {0};
	uint64_t size;

	(void)state;
	assert_int_equal(lp_archive_create(test_path("n"), &truth_meta, &w, &err), 0);
	size = lp_archive_size(w);
	dense_init(&dense, w);
	assert_int_equal(dense_flush(&dense, t->catalogue, &err), 0);
	assert_int_equal(lp_archive_size(w), size);
	lp_archive_abandon(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gathers),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, test_dir_make, test_dir_remove);
}
