#include "collect/spool_lock.h"
#include "collect_util.h"

static int take(struct spool_lock *l, const char *dir)
{
	struct lp_err err = {0};
	int r = spool_lock_take(l, dir, "h", 0755, &err);

	if (r == -EBUSY)
		assert_non_null(strstr(err.text, "another recorder"));
	return r;
}

static void lock_path(const struct place *p, char ret[256])
{
	snprintf(ret, 256, "%s/d/.h.lock", p->dir);
}

static void dir_path(const struct place *p, char ret[256])
{
	snprintf(ret, 256, "%s/d", p->dir);
}

static void test_one_at_a_time(void **state)
{
	struct place *p = *state;
	struct spool_lock a = {0}, b = {0};
	char dir[256];

	dir_path(p, dir);
	assert_int_equal(take(&a, dir), 0);
	assert_int_equal(take(&a, dir), 0); /* holds it */
	assert_int_equal(take(&b, dir), -EBUSY);
	spool_lock_release(&a);
	assert_int_equal(take(&b, dir), 0);
	assert_int_equal(take(&a, dir), -EBUSY);
	spool_lock_release(&b);
	spool_lock_release(&b);
}

/* The file is removed, alone or with its directory: the first recorder gets the new one. */
static void test_removed(void **state)
{
	struct place *p = *state;
	struct spool_lock a = {0}, b = {0};
	char dir[256], path[256];

	dir_path(p, dir);
	lock_path(p, path);
	assert_int_equal(take(&a, dir), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(take(&a, dir), 0);
	assert_int_equal(take(&b, dir), -EBUSY);
	remove_tree(dir);
	assert_int_equal(take(&b, dir), 0); /* it could not know */
	assert_int_equal(take(&a, dir), -EBUSY);
	spool_lock_release(&b);
	assert_int_equal(take(&a, dir), 0);
	spool_lock_release(&a);
}

/* Another directory in its place. */
static void test_moved(void **state)
{
	struct place *p = *state;
	struct spool_lock a = {0}, b = {0};
	char dir[256], away[300];

	dir_path(p, dir);
	snprintf(away, sizeof(away), "%s.old", dir);
	assert_int_equal(take(&a, dir), 0);
	assert_int_equal(rename(dir, away), 0);
	assert_int_equal(take(&a, dir), 0);
	assert_int_equal(take(&b, dir), -EBUSY);
	assert_int_equal(take(&b, away), 0);
	spool_lock_release(&a);
	spool_lock_release(&b);
}

/* What others have put where the file is to be. */
static void test_planted(void **state)
{
	struct place *p = *state;
	struct spool_lock a = {0};
	char dir[256], path[256], target[300];

	dir_path(p, dir);
	lock_path(p, path);
	assert_int_equal(mkdir(dir, 0755), 0);
	snprintf(target, sizeof(target), "%s/target", p->dir);
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(take(&a, dir), -ELOOP);
	assert_int_equal(access(target, F_OK), -1);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(take(&a, dir), -EINVAL);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_true(take(&a, dir) < 0);
	spool_lock_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		place_test(test_one_at_a_time),
		place_test(test_removed),
		place_test(test_moved),
		place_test(test_planted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
