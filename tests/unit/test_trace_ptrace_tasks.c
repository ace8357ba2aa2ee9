/* Threads and their processes. */
#include "trace/ptrace_tasks.h"
#include "unit.h"

#include <stdlib.h>

static struct ptrace_tasks tasks;

static void test_threads_of_processes(void **state)
{
	struct ptrace_task *leader, *thread, *other;

	(void)state;
	assert_null(tasks_find(&tasks, 7));
	assert_null(tasks_next(&tasks, NULL));
	leader = tasks_add(&tasks, 7, 7);
	thread = tasks_add(&tasks, 7 + TASK_BUCKETS, 7); /* in the same bucket */
	other = tasks_add(&tasks, 9, 0);
	assert_non_null(leader);
	assert_ptr_equal(leader->process, thread->process);
	assert_int_equal(leader->process->n_tasks, 2);
	assert_null(other->process);
	assert_int_equal(tasks.n_tasks, 3);
	assert_int_equal(tasks.n_processes, 1);
	assert_int_equal(tasks_join(&tasks, other, 9), 0);
	assert_ptr_equal(tasks_find_process(&tasks, 9), other->process);
	assert_ptr_equal(tasks_find(&tasks, 7 + TASK_BUCKETS), thread);
	tasks_remove(&tasks, leader);
	assert_non_null(tasks_find_process(&tasks, 7));
	assert_null(tasks_find(&tasks, 7));
	tasks_remove(&tasks, thread);
	assert_null(tasks_find_process(&tasks, 7));
	tasks_remove(&tasks, NULL);
	tasks_remove(&tasks, other);
	assert_int_equal(tasks.n_tasks, 0);
	assert_int_equal(tasks.n_processes, 0);
}

static void test_walk(void **state)
{
	int n = 0, sum = 0;

	(void)state;
	for (int i = 1; i <= 1000; i++)
		assert_non_null(tasks_add(&tasks, i * 37, i * 37 % 10 + 1));
	for (struct ptrace_task *t = tasks_next(&tasks, NULL); t; t = tasks_next(&tasks, t)) {
		n++;
		sum += t->tid;
		t->in_call = true;
		t->text = malloc(3);
	}
	assert_int_equal(n, 1000);
	assert_int_equal(sum, 37 * 1000 * 1001 / 2);
	assert_int_equal(tasks.n_processes, 10);
	tasks_release(&tasks);
	assert_int_equal(tasks.n_tasks, 0);
	assert_null(tasks_next(&tasks, NULL));
}

static void test_end_of_a_call(void **state)
{
	struct ptrace_task task = {.in_call = true, .text = malloc(3)};

	(void)state;
	task_end_call(&task);
	assert_false(task.in_call);
	assert_null(task.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads_of_processes),
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_end_of_a_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
