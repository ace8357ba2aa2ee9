#include "collect/procfile.h"

#include "collect_run.h"
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

/* How many bytes one read returns at most; 0: as many as there are. */
static size_t piece;

ssize_t pread(int fd, void *buf, size_t nbytes, off_t offset)
{
	return syscall(SYS_pread64, fd, buf, piece && piece < nbytes ? piece : nbytes, offset);
}

static void assert_u64(const char *text, uint64_t want, const char *rest)
{
	uint64_t value = 0;

	assert_true(scan_u64(&text, &value));
	assert_true(value == want);
	assert_string_equal(text, rest);
}

static void test_scan_u64(void **state)
{
	const char *none[] = {"", " \n5", "x5", "-5"};
	uint64_t value;

	(void)state;
	assert_u64(" \t42 7", 42, " 7");
	assert_u64("0\n", 0, "\n");
	assert_u64("18446744073709551615", UINT64_MAX, "");
	assert_u64("18446744073709551616 1", UINT64_MAX, " 1");
	assert_u64("184467440737095516150000000x", UINT64_MAX, "x");
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_false(scan_u64(&none[i], &value));
}

static void test_scan_words_and_lines(void **state)
{
	const char *p = "  one two\n\nthree", *word;
	size_t len;

	(void)state;
	assert_true(scan_word(&p, &word, &len));
	assert_int_equal(len, 3);
	assert_memory_equal(word, "one", 3);
	assert_true(scan_word(&p, &word, &len));
	assert_false(scan_word(&p, &word, &len)); /* not on this line */
	assert_true(scan_line(&p));
	assert_true(scan_line(&p));
	assert_string_equal(p, "three");
	assert_false(scan_line(&p));
	assert_false(scan_line(&p));
	assert_string_equal(p, "");
}

static void test_reads_anew_and_moves_on(void **state)
{
	struct proc_root root;
	struct lp_err err = {0};
	char dir[PATH_MAX], second[PATH_MAX + 8];
	struct procfile f;

	(void)state;
	tree_make(dir);
	snprintf(second, sizeof(second), "%s/second", dir);
	root = (struct proc_root){.dir = dir};
	assert_int_equal(procfile_open(&f, &root, "/proc/x", &err), -ENOENT);
	assert_int_equal(f.fd, -1);
	tree_put(dir, "proc/x", "long text\n");
	assert_int_equal(procfile_open(&f, &root, "/proc/x", &err), 0);
	assert_int_equal(procfile_read(&f, &err), 0);
	assert_string_equal(f.text, "long text\n");
	tree_put(dir, "proc/x", "short\n");
	assert_int_equal(procfile_read(&f, &err), 0);
	assert_string_equal(f.text, "short\n");
	/* The next moment of a recorded tree lacks the file, the one after has it. */
	root.dir = second;
	root.generation++;
	assert_int_equal(procfile_read(&f, &err), -ENOENT);
	assert_non_null(strstr(err.text, "second/proc/x"));
	tree_put(second, "proc/x", "other\n");
	assert_int_equal(procfile_read(&f, &err), 0);
	assert_string_equal(f.text, "other\n");
	procfile_close(&f);
	tree_remove(dir);
}

/* The kernel returns job_stats one job at a time, if two do not fit into a page. */
static void test_long_records(void **state)
{
	char text[3 * 2200 + 1], dir[PATH_MAX];
	struct proc_root root = {.dir = dir};
	struct procfile f;

	(void)state;
	tree_make(dir);
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	tree_put(dir, "proc/x", text);
	assert_int_equal(procfile_open(&f, &root, "/proc/x", NULL), 0);
	piece = 2200;
	assert_int_equal(procfile_read_records(&f, NULL), 0);
	piece = 0;
	assert_int_equal(f.len, sizeof(text) - 1);
	procfile_close(&f);
	tree_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scan_u64),
		cmocka_unit_test(test_scan_words_and_lines),
		cmocka_unit_test(test_reads_anew_and_moves_on),
		cmocka_unit_test(test_long_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
