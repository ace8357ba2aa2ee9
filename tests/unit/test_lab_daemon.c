#include "unit.h"

#include "base/file.h"
#include "lab/daemon.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sockets_are_counted_by_state_and_port),
		cmocka_unit_test(a_configuration_replaces_the_one_before),
		cmocka_unit_test(a_configuration_that_cannot_be_written_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
