#include "unit.h"

#include "explain/semantic_files.h"
#include "model/trace_event.h"

static void must_be(const struct file_table *t, int fd, const char *name)
{
	const struct traced_file *f = file_table_find(t, fd);

	if (!name) {
		assert_null(f);
		return;
	}
	assert_non_null(f);
	assert_int_equal(f->fd, fd);
	assert_string_equal(f->name, name);
}

static void test_set(void **state)
{
	struct file_table *t = NULL;

	(void)state;
	must_be(t, 3, NULL);
	for (int fd = 9; fd > 2; fd--)
		assert_int_equal(file_table_set(&t, fd, TRACE_FILE_STORAGE, "/a"), 0);
	assert_int_equal(file_table_set(&t, 5, TRACE_FILE_TCP, "tcp 1.2.3.4:5"), 0);
	assert_int_equal(file_table_size(t), 7);
	must_be(t, 3, "/a");
	must_be(t, 5, "tcp 1.2.3.4:5");
	assert_int_equal(file_table_find(t, 5)->file, TRACE_FILE_TCP);
	must_be(t, 9, "/a");
	must_be(t, 10, NULL);
	must_be(t, -1, NULL);
	file_table_free(t);
	file_table_free(NULL);
}

/* A child has what its parent had, and each goes its way from then on. */
static void test_share(void **state)
{
	struct file_table *parent = NULL, *child;

	(void)state;
	assert_null(file_table_share(NULL));
	assert_int_equal(file_table_set(&parent, 3, TRACE_FILE_STORAGE, "/a"), 0);
	assert_int_equal(file_table_set(&parent, 4, TRACE_FILE_STORAGE, "/b"), 0);
	child = file_table_share(parent);
	assert_ptr_equal(child, parent);
	assert_int_equal(file_table_set(&parent, 3, TRACE_FILE_STORAGE, "/c"), 0);
	assert_int_equal(file_table_close(&child, 4, 10), 0);
	must_be(parent, 3, "/c");
	must_be(child, 3, "/a");
	assert_int_equal(file_table_find(parent, 4)->gone_ns, 0);
	assert_int_equal(file_table_find(child, 4)->gone_ns, 10);
	file_table_free(parent);
	must_be(child, 4, "/b");
	file_table_free(child);
}

/* A closed descriptor is still known for a while: calls on it may be reported later. */
static void test_forget(void **state)
{
	struct file_table *t = NULL;

	(void)state;
	assert_int_equal(file_table_close(&t, 3, 10), 0);
	file_table_forget(t, 10);
	for (int fd = 3; fd < 6; fd++)
		assert_int_equal(file_table_set(&t, fd, TRACE_FILE_STORAGE, "/a"), 0);
	assert_int_equal(file_table_close(&t, 3, 10), 0);
	assert_int_equal(file_table_close(&t, 4, 20), 0);
	assert_int_equal(file_table_close(&t, 7, 20), 0);
	file_table_forget(t, 20);
	must_be(t, 3, NULL);
	must_be(t, 4, "/a");
	must_be(t, 5, "/a");
	assert_int_equal(file_table_set(&t, 4, TRACE_FILE_STORAGE, "/again"), 0);
	file_table_forget(t, 30);
	must_be(t, 4, "/again");
	file_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
