#include "explain/processes.h"

#include "archive_rig.h"
#include "temp_dir.h"

static struct lp_verdict *read_notes(uint32_t n_dimensions)
{
	const char *path = temp_dir_path;
	struct lp_verdict *v = calloc(1, sizeof(*v));
	struct lp_dataset *ds = NULL;
	struct lp_err err = {0};

	assert_non_null(v);
	v->dimensions = calloc(1, sizeof(*v->dimensions));
	v->n_dimensions = n_dimensions;
	assert_int_equal(lp_dataset_open(&path, 1, NULL, NULL, NULL, &ds, &err), 0);
	assert_int_equal(noted_processes_read(v, ds, &err), 0);
	lp_dataset_close(ds);
	return v;
}

/* Notes of all archives, each its observer's; other remarks are none. */
static void test_read(void **state)
{
	static const struct archive_rig_span span = {0, 5};
	struct lp_verdict *v;
	const struct lp_process *p;

	(void)state;
	archive_rig_write(temp_path("a.lpa"), "a", 10, &span, 1,
		"kind=process program=dd pid=812 uid=0 command=dd if=/dev/sdb");
	archive_rig_write(temp_path("b.lpa"), "b", 10, &span, 1, "kind=clock-step step_us=5");
	v = read_notes(1);
	assert_int_equal(v->n_processes, 1);
	p = noted_process_find(v, "a", "dd:libc:read", 2, INT64_MAX);
	assert_non_null(p);
	assert_int_equal(p->pid, 812);
	assert_string_equal(p->command, "dd if=/dev/sdb");
	assert_ptr_equal(noted_process_find(v, "a", "dd", 2, 0), p);
	assert_null(noted_process_find(v, "b", "dd", 2, INT64_MAX));
	assert_null(noted_process_find(v, "a", "d", 1, INT64_MAX));
	assert_null(noted_process_find(v, "a", "ddd", 3, INT64_MAX));
	lp_verdict_free(v);
	/* Nobody asks. */
	v = read_notes(0);
	assert_int_equal(v->n_processes, 0);
	lp_verdict_free(v);
}

/* As they come: what is no note, or is known, is nothing new; a verdict gets copies. */
static void test_add(void **state)
{
	static const char dd[] = "kind=process program=dd pid=812 uid=0 command=dd if=/dev/sdb";
	struct lp_verdict *v = calloc(1, sizeof(*v));
	struct noted_processes p = {0};

	(void)state;
	assert_non_null(v);
	assert_int_equal(noted_processes_add(&p, "a", 100, dd), 0);
	assert_int_equal(noted_processes_add(&p, "a", 200, dd), 0);
	assert_int_equal(noted_processes_add(&p, "a", 300, "kind=clock-step step_us=5"), 0);
	assert_int_equal(noted_processes_add(&p, "b", 300, dd), 0);
	assert_int_equal(noted_processes_add(&p, "a", 50, dd), 0);
	assert_int_equal(p.n, 3);
	/* Nobody asks. */
	assert_int_equal(noted_processes_give(v, &p), 0);
	assert_int_equal(v->n_processes, 0);
	v->dimensions = calloc(1, sizeof(*v->dimensions));
	v->n_dimensions = 1;
	assert_int_equal(noted_processes_give(v, &p), 0);
	noted_processes_release(&p);
	assert_int_equal(v->n_processes, 3);
	assert_int_equal(noted_process_find(v, "a", "dd", 2, 1000)->wall_us, 100);
	assert_string_equal(noted_process_find(v, "b", "dd", 2, 1000)->observer, "b");
	lp_verdict_free(v);
}

/* Their number is limited: the newest are kept. */
static void test_many(void **state)
{
	struct noted_processes p = {0};
	char text[96];

	(void)state;
	for (int pid = 1; pid <= 10100; pid++) {
		snprintf(text, sizeof(text), "kind=process program=p pid=%d uid=0 command=p", pid);
		assert_int_equal(noted_processes_add(&p, "a", pid, text), 0);
	}
	assert_int_equal(p.n, 10000);
	assert_int_equal(p.items[0].pid, 10001);
	assert_int_equal(p.items[99].pid, 10100);
	assert_int_equal(p.items[100].pid, 101);
	noted_processes_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_read, temp_dir_setup, temp_dir_teardown),
		cmocka_unit_test(test_add), cmocka_unit_test(test_many)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
