#include "collect/tcp_watch.h"
#include "unit.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void test_parse(void **state)
{
	uint64_t n = 0;

	(void)state;
	assert_true(tcp_watch_parse(
		"sockets: used 91\nTCP: inuse 7 orphan 0 tw 0 alloc 9 mem 1\n", &n));
	assert_int_equal(n, 7);
	assert_true(tcp_watch_parse("TCP6: inuse 3\nUDP6: inuse 1\n", &n));
	assert_int_equal(n, 3);
	assert_false(tcp_watch_parse("UDP: inuse 5\n", &n));
	assert_false(tcp_watch_parse("TCP: inuse", &n));
	assert_false(tcp_watch_parse("", &n));
}

/* A sockstat file whose number the test sets. */
struct fixture {
	struct tcp_watch watch;
	char path[64];
};

static void set_in_use(struct fixture *f, unsigned n)
{
	FILE *out = fopen(f->path, "w");

	assert_non_null(out);
	fprintf(out, "TCP: inuse %u orphan 0 tw 0 alloc 9 mem 1\n", n);
	fclose(out);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct lp_err err;
	int fd;

	strcpy(f->path, "/tmp/test_tcp_watch.XXXXXX");
	fd = mkstemp(f->path);
	close(fd);
	set_in_use(f, 5);
	f->watch.root.dir = "";
	f->watch.stat6.fd = -1;
	*state = f;
	return procfile_open(&f->watch.stat, &f->watch.root, f->path, &err);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	tcp_watch_close(&f->watch);
	unlink(f->path);
	free(f);
	return 0;
}

static void dump(struct fixture *f, unsigned n)
{
	struct tcp_sock s = {.cookie = 1};

	tcp_watch_begin(&f->watch);
	for (unsigned i = 0; i < n; i++)
		tcp_watch_add(&f->watch, &s);
}

static void test_a_dump_comes_first(void **state)
{
	struct fixture *f = *state;

	assert_false(tcp_watch_steady(&f->watch));
	dump(f, 2);
	assert_true(tcp_watch_steady(&f->watch));
	assert_int_equal(f->watch.n, 2);
}

static void test_a_change_in_number_needs_a_dump(void **state)
{
	struct fixture *f = *state;

	tcp_watch_steady(&f->watch);
	dump(f, 1);
	set_in_use(f, 6);
	assert_false(tcp_watch_steady(&f->watch));
	dump(f, 2);
	assert_true(tcp_watch_steady(&f->watch));
	set_in_use(f, 5);
	assert_false(tcp_watch_steady(&f->watch));
}

static void test_a_dump_now_and_then(void **state)
{
	struct fixture *f = *state;

	tcp_watch_steady(&f->watch);
	dump(f, 0);
	for (unsigned i = 1; i < TCP_WATCH_SAMPLES; i++)
		assert_true(tcp_watch_steady(&f->watch));
	assert_false(tcp_watch_steady(&f->watch));
}

static void test_many_sockets_are_always_dumped(void **state)
{
	struct fixture *f = *state;

	tcp_watch_steady(&f->watch);
	dump(f, TCP_WATCH_MAX);
	assert_true(tcp_watch_steady(&f->watch));
	dump(f, TCP_WATCH_MAX + 1);
	assert_false(tcp_watch_steady(&f->watch));
}

static void test_without_sockstat_never_steady(void **state)
{
	struct tcp_watch w = {.stat = {.fd = -1}, .stat6 = {.fd = -1}, .dumped = true};

	(void)state;
	assert_false(tcp_watch_steady(&w));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test_setup_teardown(test_a_dump_comes_first, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_change_in_number_needs_a_dump, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_dump_now_and_then, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_many_sockets_are_always_dumped, setup, teardown),
		cmocka_unit_test(test_without_sockstat_never_steady),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
