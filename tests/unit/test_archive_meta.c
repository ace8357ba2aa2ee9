#include "archive_util.h"

#include "archive/catalogue_codec.h"

static void expect_found(const char *meta, const char *key, const char *want)
{
	size_t len = 0;
	const char *got = meta_find(meta, key, &len);

	if (!want) {
		assert_null(got);
		return;
	}
	assert_non_null(got);
	assert_int_equal(len, strlen(want));
	assert_memory_equal(got, want, len);
}

static void test_format_and_find(void **state)
{
	_cleanup_free_ char *meta = meta_format(&truth_meta);

	(void)state;
	expect_found(meta, "observer", "host");
	expect_found(meta, "interval_us", "1000000");
	expect_found(meta, "site", "lab");
	expect_found(meta, "limpet", LIMPET_VERSION);
	expect_found(meta, "obs", NULL);
	expect_found(meta, "host", NULL);
	expect_found("a=\nb=2", "a", "");
	expect_found("a=\nb=2", "b", "2");
	expect_found("\n\n=\n", "a", NULL);
	expect_found(NULL, "a", NULL);
	expect_found("", "a", NULL);
}

/* The catalogue grows from frame to frame, and is whole again in copies. */
static void test_growth(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(5, 40, 0, 1);
	_cleanup_(frame_list_release) struct frame_list l = {0};
	_cleanup_free_ char *meta = NULL;
	_cleanup_close_ int fd = -1;
	struct lp_catalogue *c = lp_catalogue_new();
	struct lp_archive_writer *w;
	struct lp_err err = {0};
	struct lp_warn warn = {0};
	struct meta_warn to = {.to = &warn, .path = "g"};
	size_t catalogues = 0;
	uint32_t all = t->n_components;

	(void)state;
	assert_int_equal(lp_archive_create(test_path("g"), &truth_meta, &w, &err), 0);
	for (uint32_t n = 1; n <= all; n++) {
		t->n_components = t->catalogue->n_components = n; /* the others come later */
		t->catalogue->changes++;
		truth_write(t, w, (n - 1) * 8, n * 8, 1, LP_ARCHIVE_LOOSE);
	}
	lp_archive_abandon(w);
	fd = open(test_path("g"), O_RDWR);
	assert_int_equal(frame_list_load(fd, &l, &err), 0);
	for (size_t i = 0; i < l.n; i++)
		catalogues += l.items[i].type == FRAME_CATALOGUE;
	assert_int_equal(catalogues, 2 * all); /* what is new, and soon after a copy */
	assert_int_equal(meta_load(fd, &l, c, &meta, &to, &err), 0);
	assert_int_equal(c->n_components, all);
	assert_int_equal(warn.count, 0);
	lp_catalogue_free(c);
	/* Without the first two frames the copies still have everything. */
	assert_int_equal(l.items[0].type, FRAME_CATALOGUE);
	assert_int_equal(pwrite(fd, "damage", 6, (off_t)l.items[0].offset + 50), 6);
	c = lp_catalogue_new();
	assert_true(meta_load(fd, &l, c, &meta, &to, &err) > 0);
	assert_int_equal(c->n_components, all);
	assert_true(warn.count > 0);
	for (uint32_t i = 0; i < all; i++)
		assert_int_equal(truth_id(c, i), i);
	lp_catalogue_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format_and_find),
		cmocka_unit_test(test_growth),
	};

	return cmocka_run_group_tests(tests, test_dir_make, test_dir_remove);
}
