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

#define COME_AND_GO_COLUMNS 16

/* Ten samples of one component that stays and of `n` that are there only now; `*id` is the next
 * one's. */
static struct lp_batch *come_and_go(
	struct lp_catalogue *c, uint32_t schema, int64_t batch, uint32_t n, uint32_t *id)
{
	struct lp_batch *b = lp_batch_new(11);
	struct lp_batch_kind *k;
	struct lp_err err = {0};
	char name[32];
	uint32_t added, row;

	for (uint32_t s = 0; s < 11; s++)
		assert_int_equal(lp_batch_add_sample(b, (batch * 10 + s) * 1000000, s), 0);
	b->carry = batch > 0;
	assert_int_equal(lp_batch_kind_get(b, schema, COME_AND_GO_COLUMNS, NULL, &k), 0);
	for (uint32_t i = 0; i <= n; i++) {
		snprintf(name, sizeof(name), "veth%u", i ? (*id)++ : 0);
		assert_int_equal(
			lp_catalogue_add_component(c, schema, "h", name, "", &added, &err), 0);
		assert_int_equal(lp_batch_add_component(b, k, added, &row), 0);
		for (uint32_t s = i && b->carry ? 1 : 0; s < 11; s++) {
			k->state[(size_t)row * 11 + s] = (uint8_t)(LP_PRESENT | (s ? 0 : LP_FRESH));
			for (uint32_t col = 0; col < COME_AND_GO_COLUMNS; col++)
				k->columns[col][(size_t)row * 11 + s] = batch * 10 + s;
		}
	}
	return b;
}

/* Values for which there is room. */
static uint64_t room(const struct dense *d)
{
	uint64_t cells = 0;

	for (uint32_t i = 0; d->pending && i < d->pending->n_kinds; i++)
		cells += (uint64_t)d->pending->kinds[i].cap_components *
			d->pending->kinds[i].n_columns * d->pending->cap_samples;
	return cells;
}

static uint64_t count_present(const char *path)
{
	struct lp_source *source = NULL;
	struct lp_batch *b;
	struct lp_err err = {0};
	uint64_t n = 0;

	assert_int_equal(lp_archive_open(path, NULL, NULL, &source, &err), 0);
	while (lp_source_next(source, &b, &err) == 1) {
		for (uint32_t row = 0; row < b->kinds[0].n_components; row++) {
			for (uint32_t s = b->carry ? 1 : 0; s < b->n_samples; s++)
				n += b->kinds[0].state[(size_t)row * b->cap_samples + s] &
					LP_PRESENT;
		}
	}
	lp_source_close(source);
	return n;
}

/* 12,000 interfaces that exist for ten seconds each, first few and then many at a time: memory does
 * not grow with the total number. */
static void test_come_and_go(void **state)
{
	struct lp_column columns[COME_AND_GO_COLUMNS];
	const struct lp_schema schema = {"net", columns, COME_AND_GO_COLUMNS};
	_cleanup_(dense_release) struct dense dense = {0};
	struct lp_catalogue *c = lp_catalogue_new();
	struct lp_archive_writer *w;
	struct lp_err err = {0};
	uint32_t number, id = 1;
	uint64_t most = 0, present = 0;

	(void)state;
	for (uint32_t i = 0; i < COME_AND_GO_COLUMNS; i++)
		columns[i] =
			(struct lp_column){(const char *[]){"a", "b", "c", "d", "e", "f", "g", "h",
						   "i", "j", "k", "l", "m", "n", "o", "p"}[i],
				"x", LP_COUNTER, 64};
	assert_int_equal(lp_catalogue_add_schema(c, &schema, &number, &err), 0);
	assert_int_equal(lp_archive_create(test_path("c"), &truth_meta, &w, &err), 0);
	dense_init(&dense, w);
	for (uint32_t batch = 0; batch < 100; batch++) {
		uint32_t n = batch < 50 ? 10 : batch == 75 ? 1000 : batch > 90 ? 1500 : 200;
		_cleanup_(lp_batch_freep) struct lp_batch *b =
			come_and_go(c, number, batch, n, &id);

		present += (uint64_t)(n + 1) * (batch ? 10 : 11);
		assert_int_equal(dense_add(&dense, c, b, &err), 0);
		most = room(&dense) > most ? room(&dense) : most;
	}
	assert_true(id > 11000);
	assert_true(most > 0);
	/* Room for rows is doubled as they come. */
	assert_true(most <= 2 * DENSE_CELLS);
	assert_int_equal(dense_flush(&dense, c, &err), 0);
	assert_int_equal(lp_archive_close(w, &err), 0);
	assert_int_equal(count_present(test_path("c")), present);
	lp_catalogue_free(c);
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
		cmocka_unit_test(test_come_and_go),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, test_dir_make, test_dir_remove);
}
