#include "archive_util.h"

#include "archive/frames.h"
#include "archive/writer.h"
#include <signal.h>
#include <sys/resource.h>

static void test_round_trips(void **state)
{
	static const uint32_t sizes[] = {1, 2, 7, 64, 150};
	static const unsigned features[] = {0, TRUTH_MISSING, TRUTH_HOTPLUG, TRUTH_EXTREME,
		TRUTH_INEXACT, TRUTH_IDLE, TRUTH_ALL};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes) * ARRAY_SIZE(features); i++) {
		uint32_t n = sizes[i % ARRAY_SIZE(sizes)];
		unsigned feature = features[i / ARRAY_SIZE(sizes)];
		_cleanup_(truth_freep) struct truth *t =
			truth_new((uint32_t)(i % 17 + 1), n, feature, i);

		for (uint32_t step = 1; step <= n; step = step * 3 + 1) {
			truth_write_file(t, test_path("a"), step, LP_ARCHIVE_LOOSE, step & 1);
			truth_check_file(t, test_path("a"), n);
			truth_write_file(t, test_path("a"), step, LP_ARCHIVE_DENSE, step & 2);
			truth_check_file(t, test_path("a"), n);
		}
	}
}

static void test_long_batches(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 4; seed++) {
		_cleanup_(truth_freep) struct truth *t = truth_new(9, 700, TRUTH_ALL, seed);

		truth_write_file(t, test_path("a"), 700, seed & 1, true);
		truth_check_file(t, test_path("a"), 700);
		truth_write_file(t, test_path("a"), 10, LP_ARCHIVE_LOOSE, false);
		truth_check_file(t, test_path("a"), 700);
	}
}

static void test_no_carry(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(6, 40, TRUTH_ALL, 3);
	struct lp_archive_writer *w;
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(lp_archive_create(test_path("nc"), &truth_meta, &w, &err), 0);
	for (uint32_t s = 0; s < 40; s += 10) {
		_cleanup_(lp_batch_freep) struct lp_batch *b = truth_batch(t, s, 10, false);

		assert_int_equal(lp_archive_write(w, t->catalogue, b, LP_ARCHIVE_LOOSE, &err), 0);
	}
	lp_archive_abandon(w);
	truth_check_file(t, test_path("nc"), 40);
}

/* Frames of few cells: one batch becomes many frames, loose and dense. */
static void test_splitting(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(8, 90, TRUTH_ALL, 4);
	_cleanup_(lp_batch_freep) struct lp_batch *b = truth_batch(t, 0, 90, false);
	struct lp_archive_writer *w;
	struct lp_err err = {0};

	(void)state;
	for (int density = 0; density < 2; density++) {
		_cleanup_close_ int fd = -1;
		_cleanup_(frame_list_release) struct frame_list frames = {0};
		size_t data = 0;

		unlink(test_path("split"));
		assert_int_equal(lp_archive_create(test_path("split"), &truth_meta, &w, &err), 0);
		writer_limit_cells(w, 7 * 32);
		assert_int_equal(lp_archive_write(w, t->catalogue, b, density, &err), 0);
		assert_int_equal(lp_archive_close(w, &err), 0);
		truth_check_file(t, test_path("split"), 90);
		fd = open(test_path("split"), O_RDONLY);
		assert_int_equal(frame_list_load(fd, &frames, &err), 0);
		for (size_t i = 0; i < frames.n; i++)
			data += frames.items[i].type == FRAME_DATA;
		assert_true(data >= 90 / 14);
	}
	assert_int_equal(lp_archive_append(test_path("split"), &w, &err), 0);
	writer_limit_cells(w, 3);
	assert_int_equal(lp_archive_write(w, t->catalogue, b, LP_ARCHIVE_LOOSE, &err), -E2BIG);
	lp_archive_abandon(w);
}

/* Append after a cut at any byte: the whole frames before it stay, and go on. */
static void test_append_after_any_cut(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(3, 30, TRUTH_MISSING | TRUTH_HOTPLUG, 5);
	size_t size;

	(void)state;
	for (int closed = 0; closed < 2; closed++) {
		_cleanup_free_ uint8_t *bytes = NULL;

		truth_write_file(t, test_path("whole"), 2, LP_ARCHIVE_LOOSE, closed);
		bytes = test_read_file(test_path("whole"), &size);
		for (size_t cut = 16; cut <= size; cut += 1 + cut % 7) {
			_cleanup_(lp_source_closep) struct lp_source *source = NULL;
			struct lp_archive_writer *w;
			struct lp_warn warn = {0};
			struct lp_err err = {0};
			uint32_t n;
			int r;

			test_write_file(test_path("cut"), bytes, cut);
			assert_int_equal(lp_archive_append(test_path("cut"), &w, &err), 0);
			lp_archive_abandon(w);
			assert_int_equal(
				lp_archive_open(test_path("cut"), NULL, &warn, &source, &err), 0);
			n = truth_check_source(t, source, TRUTH_EXACT, &r);
			assert_int_equal(r, 0);
			assert_int_equal(warn.count, 0);
			if (n == 30)
				continue;
			assert_int_equal(lp_archive_append(test_path("cut"), &w, &err), 0);
			truth_write(t, w, n, 30, 5, LP_ARCHIVE_LOOSE);
			assert_int_equal(lp_archive_close(w, &err), 0);
			truth_check_file(t, test_path("cut"), 30);
		}
	}
}

/* The second catalogue has other numbers for the same names, and other names. */
static void test_two_catalogues(void **state)
{
	_cleanup_(truth_freep) struct truth *a = truth_new(7, 20, 0, 6);
	struct lp_archive_writer *w;
	struct lp_err err = {0};
	uint32_t schema, id, row;

	(void)state;
	assert_int_equal(lp_archive_create(test_path("two"), &truth_meta, &w, &err), 0);
	truth_write(a, w, 0, 10, 5, LP_ARCHIVE_LOOSE);
	for (int64_t i = 0; i < 3; i++) {
		struct lp_catalogue *other = lp_catalogue_new();
		_cleanup_(lp_batch_freep) struct lp_batch *b = lp_batch_new(1);
		struct lp_batch_kind *k;
		char name[8];

		snprintf(name, sizeof(name), "other%d", (int)i);
		lp_catalogue_add_schema(other, &truth_schemas[i % 2], &schema, &err);
		lp_catalogue_add_component(other, schema, "elsewhere", name, "", &id, &err);
		lp_batch_add_sample(b, i, i);
		lp_batch_kind_get(b, schema, 4, NULL, &k);
		lp_batch_add_component(b, k, id, &row);
		k->state[0] = LP_PRESENT;
		for (int c = 0; c < 4; c++)
			k->columns[c][0] = lp_cell_from_real((double)i);
		assert_int_equal(lp_archive_write(w, other, b, LP_ARCHIVE_LOOSE, &err), 0);
		lp_catalogue_free(other);
	}
	truth_write(a, w, 10, 20, 5, LP_ARCHIVE_LOOSE);
	assert_int_equal(lp_archive_close(w, &err), 0);
	{
		_cleanup_(lp_source_closep) struct lp_source *s = NULL;
		struct lp_batch *b;
		unsigned found = 0;

		assert_int_equal(lp_archive_open(test_path("two"), NULL, NULL, &s, &err), 0);
		while (lp_source_next(s, &b, &err) > 0) {
			uint8_t seen[20] = {0};

			if (b->mono_us[0] >= 5000000) {
				truth_check_batch(a, s->catalogue, b, TRUTH_EXACT, seen);
				continue;
			}
			for (uint32_t i = 0; i < b->n_kinds; i++) {
				char name[64], want[64];

				if (!b->kinds[i].n_components)
					continue;
				lp_component_name(
					s->catalogue, b->kinds[i].ids[0], name, sizeof(name));
				snprintf(want, sizeof(want), "elsewhere/%s:other%d",
					b->mono_us[0] % 2 ? "net" : "disk", (int)b->mono_us[0]);
				assert_string_equal(name, want);
				assert_int_equal(b->kinds[i].columns[0][0],
					lp_cell_from_real((double)b->mono_us[0]));
				found++;
			}
		}
		assert_int_equal(found, 3);
	}
}

/* Labels that change are written again; the later ones win. */
static void test_relabel(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(2, 4, 0, 7);
	_cleanup_(lp_source_closep) struct lp_source *s = NULL;
	struct lp_archive_writer *w;
	struct lp_err err = {0};
	char value[16];
	uint32_t id;

	(void)state;
	assert_int_equal(lp_archive_create(test_path("label"), &truth_meta, &w, &err), 0);
	truth_write(t, w, 0, 2, 1, LP_ARCHIVE_LOOSE);
	lp_catalogue_add_component(t->catalogue, t->catalogue->components[1].schema, "host", "c1",
		"stable=new\n", &id, &err);
	truth_write(t, w, 2, 4, 1, LP_ARCHIVE_LOOSE);
	lp_archive_abandon(w);
	assert_int_equal(lp_archive_open(test_path("label"), NULL, NULL, &s, &err), 0);
	assert_true(lp_component_label(&s->catalogue->components[1], "stable", value, 16));
	assert_string_equal(value, "new");
}

/* A disk that is full: the write fails, the file stays readable, and the call can be repeated. */
static void test_disk_full(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(8, 100, TRUTH_ALL, 8);
	struct rlimit old, tight;
	struct lp_archive_writer *w;
	struct lp_err err = {0};
	unsigned failures = 0;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(lp_archive_create(test_path("full"), &truth_meta, &w, &err), 0);
	writer_limit_cells(w, 200); /* several frames a batch: all or none of them must stay */
	for (uint32_t s = 0; s < 100; s += 20) {
		_cleanup_(lp_batch_freep) struct lp_batch *b = truth_batch(t, s, 20, s > 0);
		int r;

		for (rlim_t more = 0;; more += 37) {
			tight = (struct rlimit){lp_archive_size(w) + more, old.rlim_max};
			setrlimit(RLIMIT_FSIZE, &tight);
			r = lp_archive_write(w, t->catalogue, b, LP_ARCHIVE_LOOSE, &err);
			setrlimit(RLIMIT_FSIZE, &old);
			if (r == 0)
				break;
			assert_int_equal(r, -EFBIG);
			failures++;
			truth_check_file(t, test_path("full"), s);
		}
		truth_check_file(t, test_path("full"), s + 20);
	}
	assert_true(failures > 20);
	tight = (struct rlimit){lp_archive_size(w) + 20, old.rlim_max};
	setrlimit(RLIMIT_FSIZE, &tight);
	assert_int_equal(lp_archive_close(w, &err), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &old);
	truth_check_file(t, test_path("full"), 100);
}

static void test_incomplete_batch(void **state)
{
	struct lp_batch *b = lp_batch_new(1);
	struct lp_batch_kind *k;
	struct lp_catalogue *c = lp_catalogue_new();
	struct lp_archive_writer *w;
	struct lp_err err = {0};
	uint32_t schema;
	uint64_t mask[LP_COLUMNS_MAX / 64] = {1};

	(void)state;
	lp_catalogue_add_schema(c, &truth_schemas[0], &schema, &err);
	lp_batch_kind_get(b, schema, 4, mask, &k);
	assert_int_equal(lp_archive_create(test_path("inc"), &truth_meta, &w, &err), 0);
	assert_int_equal(lp_archive_write(w, c, b, LP_ARCHIVE_LOOSE, &err), -EINVAL);
	assert_int_equal(lp_archive_create(test_path("inc"), &truth_meta, &w, &err), -EEXIST);
	lp_archive_abandon(w);
	lp_catalogue_free(c);
	lp_batch_free(b);
}

static void test_one_writer_at_a_time(void **state)
{
	struct lp_archive_writer *w, *second;
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(lp_archive_create(test_path("lock"), &truth_meta, &w, &err), 0);
	assert_int_equal(lp_archive_append(test_path("lock"), &second, &err), -EBUSY);
	assert_non_null(strstr(err.text, "another process"));
	assert_false(lp_archive_vanished(w));
	unlink(test_path("lock"));
	assert_true(lp_archive_vanished(w));
	lp_archive_abandon(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trips),
		cmocka_unit_test(test_long_batches),
		cmocka_unit_test(test_no_carry),
		cmocka_unit_test(test_splitting),
		cmocka_unit_test(test_append_after_any_cut),
		cmocka_unit_test(test_two_catalogues),
		cmocka_unit_test(test_relabel),
		cmocka_unit_test(test_disk_full),
		cmocka_unit_test(test_incomplete_batch),
		cmocka_unit_test(test_one_writer_at_a_time),
	};

	return cmocka_run_group_tests(tests, test_dir_make, test_dir_remove);
}
