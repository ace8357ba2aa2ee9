/* The control socket in a thread, clients by disk_control() and by hand. */
#include "base/thread.h"
#include "lab/disk_socket.h"
#include "unit.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* Replaces the C library's: did the name exist before it listened? */
static char watched[128];
static bool too_early;

int listen(int fd, int n)
{
	struct stat st;

	too_early = too_early || (*watched && lstat(watched, &st) == 0);
	return (int)syscall(SYS_listen, fd, n);
}

struct office {
	struct disk_socket control;
	char dir[64], path[96];
	pthread_t thread;
	atomic_bool stop;
};

static void answer(void *ctx, const char *line, char reply[DISK_LINE_MAX])
{
	(void)ctx;
	if (!strcmp(line, "bad"))
		snprintf(reply, DISK_LINE_MAX, "error: not that");
	else
		snprintf(reply, DISK_LINE_MAX, "got %.100s", line);
}

static void *work(void *arg)
{
	struct office *o = arg;

	while (!o->stop) {
		struct pollfd fds[DISK_SOCKET_FDS];

		disk_socket_poll(&o->control, fds);
		if (poll(fds, DISK_SOCKET_FDS, 10) > 0)
			disk_socket_work(&o->control, fds);
	}
	return NULL;
}

static int setup(void **state)
{
	struct office *o = calloc(1, sizeof(*o));
	struct lp_err err = {0};

	assert_non_null(o);
	strcpy(o->dir, "/tmp/limpet-disk-socket-XXXXXX");
	assert_non_null(mkdtemp(o->dir));
	snprintf(o->path, sizeof(o->path), "%s/ctl", o->dir);
	o->control.answer = answer;
	assert_int_equal(disk_socket_open(&o->control, o->path, &err), 0);
	assert_int_equal(thread_start(&o->thread, work, o), 0);
	*state = o;
	return 0;
}

static int teardown(void **state)
{
	struct office *o = *state;
	struct stat st;

	o->stop = true;
	pthread_join(o->thread, NULL);
	disk_socket_close(&o->control);
	assert_int_equal(stat(o->path, &st), -1); /* the socket went with it */
	rmdir(o->dir);
	free(o);
	return 0;
}

static int connect_raw(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_true(strlen(path) < sizeof(address.sun_path));
	memcpy(address.sun_path, path, strlen(path));
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void ask(const struct office *o, const char *line, const char *want)
{
	char reply[DISK_LINE_MAX];
	struct lp_err err = {0};

	assert_int_equal(disk_control(o->path, line, reply, sizeof(reply), &err), 0);
	assert_string_equal(reply, want);
}

static void test_answers(void **state)
{
	const struct office *o = *state;
	char reply[DISK_LINE_MAX];
	struct lp_err err = {0};

	for (unsigned i = 0; i < 3 * DISK_SOCKET_CLIENTS_MAX; i++)
		ask(o, "slow 2", "got slow 2");
	assert_int_equal(disk_control(o->path, "bad", reply, sizeof(reply), &err), -EINVAL);
	assert_string_equal(err.text, "the disk says: not that");
}

static void test_line_in_pieces(void **state)
{
	const struct office *o = *state;
	char reply[DISK_LINE_MAX] = "";
	int fd = connect_raw(o->path);

	assert_int_equal(write(fd, "sh", 2), 2);
	ask(o, "between", "got between");
	assert_int_equal(write(fd, "ow\n", 3), 3);
	assert_int_equal(read(fd, reply, sizeof(reply)), 9);
	assert_memory_equal(reply, "got show\n", 9);
	close(fd);
}

/* Clients that connect and send nothing do not block others. */
static void test_silent_clients(void **state)
{
	const struct office *o = *state;
	int fds[2 * DISK_SOCKET_CLIENTS_MAX];

	for (unsigned i = 0; i < 2 * DISK_SOCKET_CLIENTS_MAX; i++)
		fds[i] = connect_raw(o->path);
	ask(o, "show", "got show");
	for (unsigned i = 0; i < 2 * DISK_SOCKET_CLIENTS_MAX; i++)
		close(fds[i]);
}

static void test_endless_line(void **state)
{
	const struct office *o = *state;
	char text[DISK_LINE_MAX], reply[8];
	int fd = connect_raw(o->path);

	memset(text, 'x', sizeof(text));
	assert_int_equal(send(fd, text, sizeof(text), MSG_NOSIGNAL), sizeof(text));
	assert_int_equal(recv(fd, reply, sizeof(reply), 0), 0); /* hung up */
	close(fd);
	ask(o, "show", "got show");
}

static void test_socket_of_the_dead(void **state)
{
	const struct office *o = *state;
	char path[128];
	struct disk_socket d = {.answer = answer};
	struct lp_err err = {0};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(path, sizeof(path), "%s/left", o->dir);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/left", o->dir);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd); /* the file stays */
	assert_int_equal(disk_socket_open(&d, path, &err), 0);
	disk_socket_close(&d);
	assert_int_equal(disk_socket_open(&d, "/nonexistent/left", &err), -ENOENT);
	disk_socket_close(&d);
}

/* Who finds the socket may connect at once. */
static void test_found_is_usable(void **state)
{
	const struct office *o = *state;
	struct disk_socket d = {.answer = answer};
	struct lp_err err = {0};
	char hidden[140];
	struct stat st;

	snprintf(watched, sizeof(watched), "%s/soon", o->dir);
	snprintf(hidden, sizeof(hidden), "%s.new", watched);
	assert_int_equal(disk_socket_open(&d, watched, &err), 0);
	assert_false(too_early);
	close(connect_raw(watched));
	assert_int_equal(lstat(hidden, &st), -1);
	disk_socket_close(&d);
	assert_int_equal(lstat(watched, &st), -1);
	*watched = 0;
}

/* What is there and is no socket stays, and nothing is left beside it. */
static void test_name_taken(void **state)
{
	const struct office *o = *state;
	struct disk_socket d = {.answer = answer};
	struct lp_err err = {0};
	char path[128], hidden[140];
	struct stat st;

	snprintf(path, sizeof(path), "%s/taken", o->dir);
	snprintf(hidden, sizeof(hidden), "%s.new", path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(disk_socket_open(&d, path, &err), -EEXIST);
	assert_non_null(strstr(err.text, path));
	disk_socket_close(&d);
	assert_int_equal(lstat(hidden, &st), -1);
	assert_int_equal(rmdir(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_answers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_line_in_pieces, setup, teardown),
		cmocka_unit_test_setup_teardown(test_silent_clients, setup, teardown),
		cmocka_unit_test_setup_teardown(test_endless_line, setup, teardown),
		cmocka_unit_test_setup_teardown(test_socket_of_the_dead, setup, teardown),
		cmocka_unit_test_setup_teardown(test_found_is_usable, setup, teardown),
		cmocka_unit_test_setup_teardown(test_name_taken, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
