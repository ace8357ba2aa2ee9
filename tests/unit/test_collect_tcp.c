/* The collector as the recorder uses it, beside a connection of this test with itself. */
#include "base/cleanup.h"
#include "collect/collector.h"
#include "unit.h"
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

static const struct proc_root here = {.dir = ""};
static int listener = -1, client = -1, served = -1;
static uint16_t port;

static int make_connection(void **state)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof(a);

	(void)state;
	listener = socket(AF_INET, SOCK_STREAM, 0);
	client = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&a, size) || listen(listener, 1) ||
		getsockname(listener, (struct sockaddr *)&a, &size) ||
		connect(client, (struct sockaddr *)&a, size))
		return -1;
	served = accept(listener, NULL, NULL);
	port = ntohs(a.sin_port);
	return served < 0 ? -1 : 0;
}

static int close_connection(void **state)
{
	(void)state;
	close(client);
	close(served);
	close(listener);
	return 0;
}

static int open_tcp(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	const struct collector *tcp = collector_find("tcp");

	assert_non_null(tcp);
	return tcp->open(config, ret_state, err);
}

static void test_refusals(void **state)
{
	struct proc_root recorded = {.dir = "/recorded"};
	struct collect_config config = {.observer = "h", .root = &recorded};
	struct lp_err err = {0};
	void *tcp = NULL;

	(void)state;
	assert_int_equal(open_tcp(&config, &tcp, &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.text, "/recorded"));
	config.root = &here;
	config.tcp_max = 65537;
	assert_int_equal(open_tcp(&config, &tcp, &err), -EINVAL);
	assert_non_null(strstr(err.text, "65537"));
	assert_null(tcp);
	collector_find("tcp")->close(NULL);
}

/* The value of `column` of component `name` in the current sample. */
static int64_t value(const struct collect_sink *sink, const char *name, const char *column)
{
	const struct lp_batch *b = sink->batch;
	const struct lp_batch_kind *k = &b->kinds[0];
	int c = lp_schema_column(&sink->catalogue->schemas[k->schema], column);

	assert_true(c >= 0);
	for (uint32_t i = 0; i < k->n_components; i++) {
		if (!strcmp(sink->catalogue->components[k->ids[i]].name, name))
			return k->columns[c][(size_t)i * b->cap_samples + b->n_samples - 1];
	}
	fail_msg("no component %s", name);
	return 0;
}

static void sample(void *tcp, struct collect_sink *sink)
{
	struct lp_err err = {0};

	assert_int_equal(lp_batch_add_sample(sink->batch, 0, 0), 0);
	assert_int_equal(collector_find("tcp")->sample(tcp, sink, &err), 0);
}

static void test_samples(void **state)
{
	struct collect_config config = {
		.observer = "h", .root = &here, .ports = &port, .n_ports = 1};
	struct collect_sink sink = {.catalogue = lp_catalogue_new(), .batch = lp_batch_new(2)};
	struct lp_err err = {0};
	void *tcp = NULL;
	char bytes[777] = "";
	int r = open_tcp(&config, &tcp, &err);

	(void)state;
	if (r == -EOPNOTSUPP)
		skip();
	assert_int_equal(r, 0);
	sample(tcp, &sink);
	assert_int_equal(sink.n_added, 2);
	assert_int_equal(sink.batch->kinds[0].state[0], LP_PRESENT | LP_FRESH);
	assert_int_equal(value(&sink, "127.0.0.1:in", "sockets"), 1);
	assert_int_equal(value(&sink, "127.0.0.1:out", "bytes_sent"), 0);
	assert_int_equal(send(client, bytes, sizeof(bytes), 0), sizeof(bytes));
	assert_int_equal(recv(served, bytes, sizeof(bytes), MSG_WAITALL), sizeof(bytes));
	sample(tcp, &sink);
	assert_int_equal(sink.n_added, 2);
	assert_int_equal(sink.batch->kinds[0].state[1], LP_PRESENT);
	assert_int_equal(value(&sink, "127.0.0.1:out", "bytes_sent"), sizeof(bytes));
	assert_int_equal(value(&sink, "127.0.0.1:in", "bytes_received"), sizeof(bytes));
	assert_true(value(&sink, "127.0.0.1:out", "cwnd_sum") > 0);
	assert_int_equal(value(&sink, "127.0.0.1:out", "retrans"), 0);
	collector_find("tcp")->close(tcp);
	lp_batch_free(sink.batch);
	lp_catalogue_free(sink.catalogue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_samples),
	};

	return cmocka_run_group_tests(tests, make_connection, close_connection);
}
