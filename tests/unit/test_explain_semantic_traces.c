/* What is kept from logs: processes, failures, names of descriptors, servers. */
#include "semantic_rig.h"

static struct semantic_rig rig;

static void test_ends(void **state)
{
	char address[END_MAX], local[END_MAX], remote[END_MAX];
	uint16_t port;

	(void)state;
	assert_true(end_parse("10.0.0.3:24007", address, sizeof(address), &port));
	assert_string_equal(address, "10.0.0.3");
	assert_int_equal(port, 24007);
	assert_true(end_parse("[fe80::1]:80", address, sizeof(address), &port));
	assert_string_equal(address, "fe80::1");
	assert_false(end_parse("10.0.0.3", address, sizeof(address), &port));
	assert_false(end_parse("10.0.0.3:", address, sizeof(address), &port));
	assert_false(end_parse("10.0.0.3:65536", address, sizeof(address), &port));
	assert_false(end_parse(":80", address, sizeof(address), &port));
	assert_true(ends_split("tcp 1.2.3.4:5 6.7.8.9:10", local, remote));
	assert_string_equal(local, "1.2.3.4:5");
	assert_string_equal(remote, "6.7.8.9:10");
	assert_true(ends_split("tcp 0.0.0.0:5", local, remote));
	assert_string_equal(remote, "");
	assert_false(ends_split("unix /run/x", local, remote));
	assert_false(ends_split("tcp ", local, remote));
	assert_false(ends_split(NULL, local, remote));
}

/* Failures that follow each other closely are one; others are not. */
static void test_same(void **state)
{
	(void)state;
	semantic_init(&rig);
	rig_process(&rig, "s1", 1, "d", true);
	for (int i = 0; i < 10; i++)
		rig_call(&rig, "s1", 1, 1 + i * 0.009, "pwrite64", 3, TRACE_FILE_STORAGE, -ENOSPC);
	rig_call(&rig, "s1", 1, 1.05, "pwrite64", 3, TRACE_FILE_STORAGE, -EIO);
	rig_call(&rig, "s1", 1, 1.1, "pwrite64", 3, TRACE_FILE_STORAGE, -ENOSPC);
	semantic_run(&rig);
	assert_int_equal(rig.t.n_failures, 3);
	assert_int_equal(rig.t.failures[0].n, 10);
	assert_int_equal(rig.t.failures[0].last_ns, rig_ns(1.081));
	semantic_rig_release(&rig);
}

/* A descriptor has its meaning at the time of the call; children have those of their parent. */
static void test_names(void **state)
{
	struct trace_event *e;

	(void)state;
	semantic_init(&rig);
	rig_process(&rig, "s1", 1, "d", true);
	e = rig_add(&rig, "s1", 1, TRACE_FORK, 5);
	e->ret = 2;
	rig_call(&rig, "s1", 1, 2, "pwrite64", 3, TRACE_FILE_STORAGE, -EIO);
	rig_call(&rig, "s1", 1, 4, "pwrite64", 3, TRACE_FILE_STORAGE, -EIO);
	rig_call(&rig, "s1", 2, 8, "pwrite64", 3, TRACE_FILE_STORAGE, -EIO);
	rig_call(&rig, "s1", 1, 9, "pwrite64", 4, TRACE_FILE_STORAGE, -EIO);
	rig_call(&rig, "s1", 1, 9, "fsync", 5, TRACE_FILE_STORAGE, -EIO);
	rig_descriptor(&rig, "s1", 1, 3, 1, TRACE_FD_OPEN, TRACE_FILE_STORAGE, "/first");
	rig_descriptor(&rig, "s1", 1, 3, 3, TRACE_FD_CLOSE, TRACE_FILE_NONE, NULL);
	rig_descriptor(&rig, "s1", 1, 3, 3.5, TRACE_FD_OPEN, TRACE_FILE_STORAGE, "/second");
	rig_descriptor(&rig, "s1", 1, 3, 6, TRACE_FD_OPEN, TRACE_FILE_STORAGE, "/third");
	rig_descriptor(&rig, "s1", 1, 4, 9.5, TRACE_FD_SEEN, TRACE_FILE_STORAGE, "/seen");
	rig_descriptor(&rig, "s1", 1, 5, 19, TRACE_FD_SEEN, TRACE_FILE_STORAGE, "/too/late");
	semantic_run(&rig);
	assert_int_equal(rig.t.n_failures, 5);
	assert_string_equal(rig.t.failures[0].name, "/first");
	assert_string_equal(rig.t.failures[1].name, "/second");
	assert_string_equal(rig.t.failures[2].name, "/second");
	assert_string_equal(rig.t.failures[3].name, "/seen");
	assert_null(rig.t.failures[4].name);
	assert_string_equal(
		rig.t.programs[rig.t.processes[rig.t.failures[2].process].program].comm, "d");
	semantic_rig_release(&rig);
}

static bool serves(const char *host, int pid)
{
	uint32_t process;

	assert_int_equal(traces_process(&rig.t, rig_host(&rig, host), pid, &process), 0);
	return traces_serves(&rig.t, process);
}

/* A process that accepts connections is a server, and so is one that owns a port to which others
 * connect. */
static void test_servers(void **state)
{
	(void)state;
	semantic_init(&rig);
	rig_observer(&rig, "s1", "10.0.0.1");
	rig_observer(&rig, "c1", "10.0.1.1");
	for (int i = 1; i <= 5; i++) {
		char comm[8];

		snprintf(comm, sizeof(comm), "d%d", i);
		rig_process(&rig, "s1", i, comm, false);
	}
	rig_answers(&rig, "c1", "10.0.0.1:80", 0, 5);
	rig_answers(&rig, "c1", "127.0.0.1:99", 0, 5);
	rig_call(&rig, "s1", 1, 1, "accept4", 3, TRACE_FILE_TCP, 7);
	rig_call(&rig, "s1", 2, 1, "accept4", 3, TRACE_FILE_SOCKET, 7);
	rig_descriptor(&rig, "s1", 3, 4, 1, TRACE_FD_ACCEPT, TRACE_FILE_TCP,
		"tcp 10.0.0.1:70 10.0.1.1:4000");
	rig_descriptor(&rig, "s1", 4, 4, 1, TRACE_FD_BEFORE, TRACE_FILE_TCP, "tcp 0.0.0.0:80");
	rig_descriptor(&rig, "s1", 5, 4, 1, TRACE_FD_BEFORE, TRACE_FILE_TCP,
		"tcp 10.0.0.1:4444 10.0.1.1:80");
	semantic_run(&rig);
	assert_true(serves("s1", 1));
	assert_false(serves("s1", 2));
	assert_true(serves("s1", 3));
	assert_true(serves("s1", 4));
	assert_false(serves("s1", 5));
	assert_int_equal(rig.t.peers[1].server, rig_host(&rig, "c1"));
	assert_string_equal(
		rig.t.programs[traces_server(&rig.t, rig_host(&rig, "s1"), 80)].comm, "d4");
	assert_int_equal(traces_server(&rig.t, rig_host(&rig, "s1"), 1234), TRACES_NONE);
	semantic_rig_release(&rig);
}

/* Observers of one machine talk over its loopback interface, or over an address that they share:
 * the one that has the port serves. */
static void test_one_machine(void **state)
{
	(void)state;
	semantic_init(&rig);
	rig_observer(&rig, "srv", "10.0.0.1,loopback@1-5");
	rig_observer(&rig, "cli", "10.0.0.1,loopback@1-5");
	rig_observer(&rig, "far", "10.0.0.2,loopback@2-5");
	rig_process(&rig, "srv", 1, "server", false);
	rig_process(&rig, "cli", 2, "client", false);
	rig_process(&rig, "far", 3, "another", false);
	rig_answers(&rig, "cli", "127.0.0.1:80", 0, 5);
	rig_answers(&rig, "cli", "127.0.0.1:81", 0, 5);
	rig_answers(&rig, "far", "10.0.0.1:80", 0, 5);
	rig_answers(&rig, "far", "127.0.0.1:80", 0, 5);
	rig_descriptor(&rig, "srv", 1, 4, 1, TRACE_FD_SEEN, TRACE_FILE_TCP, "tcp 0.0.0.0:80");
	semantic_run(&rig);
	assert_int_equal(rig.t.peers[0].server, rig_host(&rig, "srv"));
	assert_int_equal(rig.t.peers[1].server, rig_host(&rig, "cli")); /* of no traced host */
	assert_int_equal(rig.t.peers[2].server, rig_host(&rig, "srv"));
	assert_int_equal(rig.t.peers[3].server, rig_host(&rig, "far"));
	assert_true(serves("srv", 1));
	assert_false(serves("cli", 2));
	semantic_rig_release(&rig);
}

/* No program was seen to serve: one that uses TCP at all does, or the only one there. */
static void test_guess(void **state)
{
	uint32_t program;

	(void)state;
	for (int talks = 0; talks < 2; talks++) {
		semantic_init(&rig);
		rig_observer(&rig, "s1", "10.0.0.1");
		rig_observer(&rig, "s2", "10.0.0.2");
		rig_observer(&rig, "c1", "10.0.1.1");
		rig_process(&rig, "s1", 1, "alone", false);
		rig_process(&rig, "s2", 1, "one", false);
		rig_process(&rig, "s2", 2, "two", false);
		rig_process(&rig, "c1", 1, "client", false);
		assert_int_equal(traces_program(&rig.t, rig_host(&rig, "s2"), "two", &program), 0);
		rig.t.programs[program].seen.talks = talks;
		rig_answers(&rig, "c1", "10.0.0.1:80", 0, 5);
		rig_answers(&rig, "c1", "10.0.0.2:80", 0, 5);
		semantic_run(&rig);
		assert_true(serves("s1", 1));
		assert_false(serves("s2", 1));
		assert_int_equal(serves("s2", 2), talks);
		assert_false(serves("c1", 1));
		semantic_rig_release(&rig);
	}
}

/* No program was seen to serve, but the candidates are known: one that listens, not one that only
 * talks. */
static void test_guess_listening(void **state)
{
	uint32_t program;

	(void)state;
	semantic_init(&rig);
	rig_observer(&rig, "s1", "10.0.0.1");
	rig_observer(&rig, "c1", "10.0.1.1");
	rig_process(&rig, "s1", 1, "listens", false);
	rig_process(&rig, "s1", 2, "talks", false);
	rig_process(&rig, "s1", 3, "wants", false);
	rig_process(&rig, "c1", 1, "client", false);
	assert_int_equal(traces_program(&rig.t, rig_host(&rig, "s1"), "talks", &program), 0);
	rig.t.programs[program].seen.talks = true;
	rig_answers(&rig, "c1", "10.0.0.1:80", 0, 5);
	rig_descriptor(&rig, "s1", 1, 4, 1, TRACE_FD_SEEN, TRACE_FILE_TCP, "tcp 0.0.0.0:24007");
	rig_descriptor(
		&rig, "s1", 3, 4, 1, TRACE_FD_SEEN, TRACE_FILE_TCP, "tcp 10.0.0.1:999 10.0.0.9:80");
	rig_descriptor(&rig, "c1", 1, 4, 1, TRACE_FD_SEEN, TRACE_FILE_TCP, "tcp 0.0.0.0:5000");
	semantic_run(&rig);
	assert_true(serves("s1", 1));
	assert_false(serves("s1", 2));
	assert_false(serves("s1", 3));
	assert_false(serves("c1", 1)); /* no connections to that host */
	assert_string_equal(
		rig.t.programs[traces_server(&rig.t, rig_host(&rig, "s1"), 24007)].comm, "listens");
	semantic_rig_release(&rig);
}

/* A number that is given to another process later is another process. */
static void test_pid_again(void **state)
{
	uint32_t process;

	(void)state;
	semantic_init(&rig);
	rig_process(&rig, "s1", 1, "d", true);
	rig_exit(&rig, "s1", 1, 5, 0);
	rig_call(&rig, "s1", 1, 60, "pwrite64", 3, TRACE_FILE_STORAGE, -EIO);
	semantic_run(&rig);
	assert_int_equal(traces_process(&rig.t, 0, 1, &process), 0);
	assert_int_equal(rig.t.processes[process].died_ns, 0);
	assert_false(traces_serves(&rig.t, process));
	semantic_rig_release(&rig);
}

static void test_exec(void **state)
{
	struct trace_event *e;
	uint32_t process;

	(void)state;
	semantic_init(&rig);
	e = rig_add(&rig, "s1", 1, TRACE_EXEC, 1);
	e->text = "/usr/sbin/a-very-long-daemon-name";
	e->text_len = (uint32_t)strlen(e->text);
	semantic_run(&rig);
	assert_int_equal(traces_process(&rig.t, 0, 1, &process), 0);
	assert_string_equal(
		rig.t.programs[rig.t.processes[process].program].comm, "a-very-long-dae");
	semantic_rig_release(&rig);
}

/* Losses are reported. */
static void test_lost(void **state)
{
	(void)state;
	semantic_init(&rig);
	rig_add(&rig, "s1", 1, TRACE_LOST, 1)->ret = 42;
	semantic_run(&rig);
	rig_notes(&rig, "42 events of system calls were lost");
	semantic_rig_release(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_servers),
		cmocka_unit_test(test_one_machine),
		cmocka_unit_test(test_guess),
		cmocka_unit_test(test_guess_listening),
		cmocka_unit_test(test_pid_again),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
