/* The engine through its public door, with nothing but a CSV file and options. */
#include "unit.h"

#include "temp_dir.h"
#include <errno.h>
#include <limpet/diagnose.h>
#include <math.h>

/* Eight disks, 200 samples of 15 s; one of them takes `factor` times as long. */
static const char *make_csv(const char *name, double factor)
{
	const char *path = temp_path(name);
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs("time,component,metric,value\n", f);
	for (int i = 0; i < 200; i++) {
		for (int d = 0; d < 8; d++)
			fprintf(f, "%d,oss%d/disk:sda,latency,%.3f\n", 1300000000 + 15 * i, d,
				(20 + sin(i * 7 + d * 13)) * (d == 5 ? factor : 1));
	}
	assert_int_equal(fclose(f), 0);
	return path;
}

static int diagnose(const char *path, const struct lp_diagnose_options *options,
	struct lp_verdict **ret, struct lp_err *err)
{
	struct lp_dataset *ds = NULL;
	int r = lp_dataset_open(&path, 1, NULL, NULL, NULL, &ds, err);

	assert_int_equal(r, 0);
	r = lp_diagnose(ds, options, ret, err);
	lp_dataset_close(ds);
	return r;
}

static void test_finds_it(void **state)
{
	struct lp_diagnose_options options = {0};
	struct lp_verdict *v = NULL;
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(diagnose(make_csv("slow.csv", 3), &options, &v, &err), 0);
	assert_int_equal(v->n_suspects, 1);
	assert_string_equal(v->components[v->suspects[0].component]->text, "oss5/disk:sda");
	assert_string_equal(v->suspects[0].cause, "disk-busy");
	assert_int_equal(v->n_incidents, 1);
	lp_verdict_free(v);
	v = NULL;
	assert_int_equal(diagnose(make_csv("well.csv", 1), &options, &v, &err), 0);
	assert_int_equal(v->n_suspects, 0);
	lp_verdict_free(v);
}

struct told {
	unsigned n;
	double last;
};

static void tell(void *ctx, const char *what, double done)
{
	struct told *t = ctx;

	assert_non_null(what);
	assert_true(done >= 0 && done <= 1);
	t->n++;
	t->last = done;
}

static void test_options(void **state)
{
	static const char *const metrics[] = {"latency"}, *const fixed[] = {"latency=1e6"},
				 *const split[] = {"name"}, *const groups[] = {"disk*"};
	struct told told = {0};
	struct lp_diagnose_options options = {.method = "kl",
		.params = {.win_size = 20, .k = 2},
		.metrics = metrics,
		.n_metrics = 1,
		.split_by = split,
		.n_split = 1,
		.groups = groups,
		.n_groups = 1,
		.progress = tell,
		.progress_ctx = &told};
	const char *path = make_csv("slow.csv", 3);
	struct lp_verdict *v = NULL;
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(diagnose(path, &options, &v, &err), 0);
	assert_int_equal(v->n_suspects, 1);
	assert_string_equal(v->method, "kl");
	assert_int_equal(v->params.win_size, 20);
	assert_int_equal(v->params.k, 2);
	assert_true(told.n >= 2);
	lp_verdict_free(v);
	v = NULL;
	options.fixed = fixed;
	options.n_fixed = 1;
	assert_int_equal(diagnose(path, &options, &v, &err), 0);
	assert_int_equal(v->n_suspects, 0);
	lp_verdict_free(v);
}

static void test_refuses(void **state)
{
	static const char *const metrics[] = {"nonsense"};
	const struct {
		struct lp_diagnose_options options;
		int code;
		const char *says;
	} cases[] = {
		{{.method = "nonsense"}, -EINVAL, "nonsense"},
		{{.topology = "/nonexistent.yaml"}, -ENOENT, "/nonexistent.yaml"},
		{{.thresholds = "/nonexistent.thr"}, -ENOENT, "/nonexistent.thr"},
		{{.metrics = metrics, .n_metrics = 1}, -ENOENT, "nonsense"},
		{{.expect = "/nonexistent.txt"}, -ENOENT, "/nonexistent.txt"},
	};
	const char *path = make_csv("slow.csv", 3);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lp_verdict *v = NULL;
		struct lp_err err = {0};

		assert_int_equal(diagnose(path, &cases[i].options, &v, &err), cases[i].code);
		assert_null(v);
		assert_non_null(strstr(err.text, cases[i].says));
	}
}

/* A bad line in the middle: the intact data is judged, and the damage is reported. */
static void test_damaged(void **state)
{
	struct lp_diagnose_options options = {0};
	const char *path = make_csv("slow.csv", 3);
	struct lp_verdict *v = NULL;
	struct lp_err err = {0};
	FILE *f = fopen(path, "ae");

	(void)state;
	assert_non_null(f);
	fputs("1300000000,oss1/disk:sda,latency,nonsense\n", f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(diagnose(path, &options, &v, &err), -EBADMSG);
	assert_non_null(v);
	assert_int_equal(v->n_suspects, 1);
	assert_int_equal(v->status, LP_STATUS_SUSPECTS);
	assert_int_equal(v->n_unknown, 1);
	assert_non_null(strstr(v->unknown[0], path));
	lp_verdict_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds_it),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, temp_dir_setup, temp_dir_teardown);
}
