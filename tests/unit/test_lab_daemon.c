#include "unit.h"

#include "base/file.h"
#include "lab/daemon.h"
#include "lab/process.h"
#include "lab_rig.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char tcp[] =
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
	"   0: 01015B0A:5DC7 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0\n"
	"   1: 01015B0A:5DC7 01025B0A:03FE 01 00000000:00000000 02:0000B0E1 00000000     0\n"
	"   2: 01015B0A:03FD 02015B0A:5DC7 01 00000000:00000000 02:0000B0E1 00000000     0\n"
	"   3: 01015B0A:03FC 03015B0A:5DC7 01 00000000:00000000 02:0000B0E1 00000000     0\n"
	"   4: 01015B0A:03FB 04015B0A:5DC7 02 00000000:00000000 02:0000B0E1 00000000     0";

static void sockets_are_counted_by_state_and_port(void **state)
{
	(void)state;
	assert_int_equal(daemon_count_sockets(tcp, 10, 24007), 1);
	assert_int_equal(daemon_count_sockets(tcp, 1, 24007), 2);
	assert_int_equal(daemon_count_sockets(tcp, 10, 24008), 0);
	assert_int_equal(daemon_count_sockets(tcp, 1, 1022), 1);
	assert_int_equal(daemon_count_sockets("", 1, 24007), 0);
	assert_int_equal(daemon_count_sockets("only a header\n", 1, 24007), 0);
}

static void a_configuration_replaces_the_one_before(void **state)
{
	char path[] = "/tmp/limpet-daemon-XXXXXX";
	struct strbuf text = {0};
	char *data = NULL;
	size_t size;
	int fd = mkstemp(path);
	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "much longer than the new one", 28), 28);
	close(fd);
	strbuf_puts(&text, "short\n");
	assert_int_equal(daemon_configure(path, &text, NULL), 0);
	assert_int_equal(file_slurp(path, 100, &data, &size, NULL), 0);
	assert_string_equal(data, "short\n");
	free(data);
	unlink(path);
}

static void a_configuration_that_cannot_be_written_is_an_error(void **state)
{
	struct strbuf text = {0};
	struct lp_err err = {0};
	(void)state;
	strbuf_puts(&text, "x");
	assert_int_equal(daemon_configure("/nonexistent/x", &text, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/x"));
}

/* A lab in a directory of its own, whose client c1 is this very process. */
static const struct lab_node *client_here(struct lab *lab)
{
	static const char *const dirs[] = {"", "run", "c1", "c1/mnt"};
	char path[LAB_PATH_MAX], line[PROCESS_LINE_MAX];
	struct strbuf pid = {0};
	lab_rig(lab);
	snprintf(lab->dir, sizeof(lab->dir), "/tmp/limpet-daemon-%d", (int)getpid());
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(mkdir(lab_path(lab, path, "%s", dirs[i]), 0700), 0);
	strbuf_printf(&pid, "%.*s", process_line(line), line);
	assert_int_equal(daemon_configure(lab_path(lab, path, "run/c1-fs.pid"), &pid, NULL), 0);
	return &lab->nodes[2];
}

static void remove_here(const struct lab *lab)
{
	static const char *const all[] = {
		"run/c1-fs.pid", "run", "c1/mnt/late", "c1/mnt", "c1", ""};
	char path[LAB_PATH_MAX];
	for (unsigned i = 0; i < 6; i++)
		remove(lab_path(lab, path, "%s", all[i]));
}

static void a_file_is_waited_for_while_its_file_system_runs(void **state)
{
	struct lab lab;
	struct lp_err err = {0};
	const struct lab_node *client = client_here(&lab);
	char path[LAB_PATH_MAX];
	pid_t other = fork();
	(void)state;
	if (other == 0) {
		usleep(100000);
		_exit(mkdir(lab_path(&lab, path, "c1/mnt/late"), 0700) < 0);
	}
	assert_int_equal(daemon_wait_file(&lab, client, "late", &err), 0);
	assert_int_equal(access(lab_path(&lab, path, "c1/mnt/late"), F_OK), 0);
	assert_int_equal(waitpid(other, NULL, 0), other);
	unlink(lab_path(&lab, path, "run/c1-fs.pid"));
	assert_int_equal(daemon_wait_file(&lab, client, "never", &err), -EIO);
	assert_non_null(strstr(err.text, "c1"));
	remove_here(&lab);
}

/* Programs of a prefix outrank those in $PATH, which are no substitute for them. */
static void a_prefix_has_programs_of_its_own(void **state)
{
	char root[] = "/tmp/limpet-test-XXXXXX", path[PATH_MAX], found[PATH_MAX];
	struct lab_config c = {0};
	struct lp_err err = {0};

	(void)state;
	assert_true(daemon_exists(&c, "sh"));
	assert_string_equal(daemon_program(&c, "sh", found), "sh");
	assert_non_null(mkdtemp(root));
	assert_int_equal(lab_prefix_set(&c, root, &err), 0);
	assert_false(daemon_exists(&c, "sh"));
	snprintf(path, sizeof(path), "%s/sbin", root);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/sbin/sh", root);
	assert_int_equal(symlink("/bin/sh", path), 0);
	assert_true(daemon_exists(&c, "sh"));
	assert_string_equal(daemon_program(&c, "sh", found), path);
	assert_int_equal(daemon_missing(&c, "GlusterFS", &err), -ENOENT);
	assert_non_null(strstr(err.text, root));
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	rmdir(root);
	assert_int_equal(lab_prefix_set(&c, root, &err), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sockets_are_counted_by_state_and_port),
		cmocka_unit_test(a_prefix_has_programs_of_its_own),
		cmocka_unit_test(a_configuration_replaces_the_one_before),
		cmocka_unit_test(a_configuration_that_cannot_be_written_is_an_error),
		cmocka_unit_test(a_file_is_waited_for_while_its_file_system_runs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
