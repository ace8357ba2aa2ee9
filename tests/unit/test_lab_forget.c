#include "unit.h"

#include "lab/forget.h"
#include "temp_dir.h"
#include <sys/mman.h>
#include <sys/vfs.h>

#define TMPFS 0x01021994
#define PAGES 64

/* How many pages of a file are in memory. */
static unsigned resident(const char *path)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char in[PAGES];
	unsigned n = 0;
	int fd = open(path, O_RDONLY);
	void *map;

	assert_true(fd >= 0);
	map = mmap(NULL, PAGES * page, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	assert_int_equal(mincore(map, PAGES * page, in), 0);
	for (unsigned i = 0; i < PAGES; i++)
		n += in[i] & 1;
	munmap(map, PAGES * page);
	close(fd);
	return n;
}

static void a_file_goes_out_of_memory(void **state)
{
	size_t size = PAGES * (size_t)sysconf(_SC_PAGESIZE);
	struct lp_err err = {0};
	struct statfs where;
	const char *path;
	char *data = calloc(1, size);
	int fd;

	(void)state;
	assert_non_null(data);
	temp_mkdir("00");
	path = temp_write("00/chunk", data, size);
	free(data);
	assert_int_equal(resident(path), PAGES);
	/* What has to be written cannot be dropped. */
	fd = open(path, O_RDONLY);
	assert_int_equal(fsync(fd), 0);
	close(fd);
	assert_int_equal(forget_files(temp_dir_path, NULL, &err), 0);
	assert_int_equal(statfs(path, &where), 0);
	if (where.f_type == TMPFS) /* whose files are nowhere else */
		skip();
	assert_true(resident(path) < PAGES);
}

static void all_files_below_it(void **state)
{
	struct lp_err err = {0};
	unsigned n = 0;

	(void)state;
	temp_mkdir("00");
	temp_mkdir("00/deep");
	temp_text("one", "1");
	temp_text("00/two", "2");
	temp_text("00/deep/three", "3");
	assert_int_equal(symlink("one", temp_path("link")), 0);
	assert_int_equal(mkfifo(temp_path("fifo"), 0600), 0);
	assert_int_equal(forget_files(temp_dir_path, &n, &err), 0);
	assert_int_equal(n, 3);
}

static void what_is_not_there_yet(void **state)
{
	struct lp_err err = {0};
	unsigned n = 1;

	(void)state;
	assert_int_equal(forget_files(temp_path("nothing"), &n, &err), 0);
	assert_int_equal(n, 0);
}

#define IN_DIR(name) cmocka_unit_test_setup_teardown(name, temp_dir_setup, temp_dir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIR(a_file_goes_out_of_memory),
		IN_DIR(all_files_below_it),
		IN_DIR(what_is_not_there_yet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
