#include "base/cleanup.h"
#include "model/trace_event.h"
#include "proc_rig.h"
#include "trace/descriptor_proc.h"
#include <errno.h>
#include <sys/socket.h>

static int open_rig(int pid)
{
	int dir = proc_open(temp_dir_path, pid);

	assert_true(dir >= 0);
	return dir;
}

static void check(int dir, int fd, unsigned file, const char *name, bool blocks, bool cloexec)
{
	struct proc_fd seen;

	assert_int_equal(proc_fd_read(dir, fd, &seen), 0);
	assert_int_equal(seen.file, file);
	assert_string_equal(seen.name, name);
	assert_int_equal(seen.blocks, blocks);
	assert_int_equal(seen.cloexec, cloexec);
}

static void test_fake(void **state)
{
	_cleanup_close_ int dir = -1;
	struct proc_fd seen;

	(void)state;
	proc_process(7, "server", "/");
	proc_fd_put(7, 0, "/dev/null", O_RDWR);
	proc_fd_put(7, 1, "/no/such/file (deleted)", O_RDWR | O_CLOEXEC);
	proc_fd_put(7, 2, "socket:[123]", O_RDWR | O_NONBLOCK);
	proc_fd_put(7, 3, "pipe:[9]", O_WRONLY);
	proc_fd_put(7, 4, "anon_inode:[eventpoll]", O_RDWR | O_CLOEXEC);
	proc_fd_put(7, 5, "/", O_RDONLY);
	proc_fd_put(7, 6, "mnt:[1]", O_RDONLY);
	dir = open_rig(7);
	check(dir, 0, TRACE_FILE_DEVICE, "/dev/null", true, false);
	check(dir, 1, TRACE_FILE_STORAGE, "/no/such/file (deleted)", true, true);
	check(dir, 2, TRACE_FILE_SOCKET, "socket:[123]", false, false);
	check(dir, 3, TRACE_FILE_PIPE, "pipe:[9]", true, false);
	check(dir, 4, TRACE_FILE_OTHER, "anon_inode:[eventpoll]", true, true);
	check(dir, 5, TRACE_FILE_DIRECTORY, "/", true, false);
	check(dir, 6, TRACE_FILE_OTHER, "mnt:[1]", true, false);
	assert_int_equal(proc_fd_read(dir, 2, &seen), 0);
	assert_int_equal(seen.inode, 123);
	assert_int_equal(proc_fd_read(dir, 3, &seen), 0);
	assert_int_equal(seen.inode, 0);
	assert_int_equal(proc_fd_read(dir, 9, &seen), -ENOENT);
	assert_int_equal(proc_fd_read(dir, -1, &seen), -ENOENT);
}

static int add(void *ctx, int fd)
{
	*(int *)ctx += fd;
	return fd == 1000 ? 77 : 0;
}

static void test_texts(void **state)
{
	_cleanup_close_ int dir = -1;
	char buf[64];
	int sum = 0;

	(void)state;
	assert_int_equal(proc_open(temp_dir_path, 7), -ENOENT);
	proc_process(7, "server", "/data");
	proc_fd_put(7, 3, "pipe:[9]", 0);
	proc_fd_put(7, 40, "pipe:[9]", 0);
	dir = open_rig(7);
	assert_string_equal(proc_text(dir, "comm", buf, sizeof(buf)), "server");
	assert_string_equal(proc_text(dir, "comm", buf, 4), "ser");
	assert_string_equal(proc_text(dir, "none", buf, sizeof(buf)), "");
	assert_string_equal(proc_link(dir, "cwd", buf, sizeof(buf)), "/data");
	assert_string_equal(proc_link(dir, "none", buf, sizeof(buf)), "");
	assert_int_equal(proc_fds(dir, add, &sum), 0);
	assert_int_equal(sum, 43);
	proc_fd_put(7, 1000, "pipe:[9]", 0);
	assert_int_equal(proc_fds(dir, add, &sum), 77);
}

/* The real one, of ourselves. */
static void test_real(void **state)
{
	_cleanup_close_ int dir = proc_open("/proc", getpid()), file = -1, sock = -1;
	struct proc_fd seen;

	(void)state;
	assert_true(dir >= 0);
	file = open(temp_text("x", ""), O_RDWR | O_CLOEXEC);
	sock = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	check(dir, file, TRACE_FILE_STORAGE, temp_path("x"), true, true);
	assert_int_equal(proc_fd_read(dir, sock, &seen), 0);
	assert_int_equal(seen.file, TRACE_FILE_SOCKET);
	assert_true(seen.inode > 0);
	assert_false(seen.blocks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_fake, temp_dir_setup, temp_dir_teardown),
		cmocka_unit_test_setup_teardown(test_texts, temp_dir_setup, temp_dir_teardown),
		cmocka_unit_test_setup_teardown(test_real, temp_dir_setup, temp_dir_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
