#include "archive_util.h"
#include "collect/sealer.h"
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[] = "/tmp/test_sealer.XXXXXX";

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

/* An unsealed file of loose frames. */
static void make_file(const struct truth *t, const char *path)
{
	struct lp_archive_meta meta = {.observer = "o", .interval_us = 1000000};
	struct lp_archive_writer *w;
	struct lp_err err = {0};

	assert_int_equal(lp_archive_create(path, &meta, &w, &err), 0);
	for (uint32_t i = 0; i < t->n_samples; i += 10) {
		_cleanup_(lp_batch_freep) struct lp_batch *b = truth_batch(t, i, 10, i > 0);

		assert_int_equal(lp_archive_write(w, t->catalogue, b, LP_ARCHIVE_LOOSE, &err), 0);
	}
	lp_archive_abandon(w);
}

static void test_all_are_sealed_before_it_closes(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(4, 40, 0, 1);
	struct sealer *s;
	struct lp_err err = {0};
	char path[64];

	(void)state;
	assert_int_equal(sealer_open(NULL, &s, &err), 0);
	for (unsigned i = 0; i < 5; i++) {
		snprintf(path, sizeof(path), "%s/%u.lpa", dir, i);
		make_file(t, path);
		sealer_add(s, path);
	}
	sealer_close(s);
	for (unsigned i = 0; i < 5; i++) {
		struct lp_archive_report report;

		snprintf(path, sizeof(path), "%s/%u.lpa", dir, i);
		assert_int_equal(lp_archive_check(path, NULL, NULL, &report, &err), 0);
		assert_true(report.sealed);
		assert_int_equal(report.n_samples, 40);
		truth_check_file(t, path, 40);
		unlink(path);
	}
}

static void count_warning(void *ctx, const char *text)
{
	assert_non_null(strstr(text, "missing.lpa"));
	++*(unsigned *)ctx;
}

static void test_a_failure_is_told_and_others_go_on(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(2, 10, 0, 2);
	unsigned n = 0;
	struct lp_warn warn = {.warn = count_warning, .ctx = &n};
	struct lp_archive_report report;
	struct lp_err err = {0};
	struct sealer *s;
	char missing[64], good[64];

	(void)state;
	snprintf(missing, sizeof(missing), "%s/missing.lpa", dir);
	snprintf(good, sizeof(good), "%s/good.lpa", dir);
	make_file(t, good);
	assert_int_equal(sealer_open(&warn, &s, &err), 0);
	sealer_add(s, missing);
	sealer_add(s, good);
	sealer_close(s);
	assert_int_equal(n, 1);
	assert_int_equal(lp_archive_check(good, NULL, NULL, &report, &err), 0);
	assert_true(report.sealed);
	unlink(good);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_are_sealed_before_it_closes),
		cmocka_unit_test(test_a_failure_is_told_and_others_go_on),
	};

	sealer_close(NULL);
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
