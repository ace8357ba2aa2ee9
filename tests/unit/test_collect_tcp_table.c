#include "collect/tcp_table.h"
#include "unit.h"
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

/* Socket `cookie` of peer 10.0.0.`host`, which received `bytes`. */
static struct tcp_sock sock(uint64_t cookie, unsigned host, uint64_t bytes)
{
	uint32_t raw[4] = {htonl(0x0a000000 + host)};
	struct tcp_sock s = {
		.cookie = cookie,
		.remote = tcp_addr_make(AF_INET, raw),
		.has_info = true,
		.counted = (1u << TCP_COUNTERS) - 1,
		.cwnd = 10,
		.rtt_us = 100,
		.unacked = 1,
		.rqueue_bytes = 100,
		.wqueue_bytes = 30,
	};

	s.counters[TCP_BYTES_RECEIVED] = bytes;
	return s;
}

static void add(struct tcp_table *t, uint64_t cookie, unsigned host, uint64_t bytes)
{
	struct tcp_sock s = sock(cookie, host, bytes);

	tcp_table_add(t, &s, TCP_IN);
}

static const struct tcp_remote *find(
	const struct tcp_table *t, unsigned host, enum tcp_direction direction)
{
	struct tcp_sock s = sock(0, host, 0);

	for (uint32_t i = 0; i < t->n_remotes; i++) {
		const struct tcp_remote *m = &t->remotes[i];

		if (m->used && !m->other && m->direction == direction &&
			tcp_addr_equal(&m->addr, &s.remote))
			return m;
	}
	return NULL;
}

static const struct tcp_remote *other(const struct tcp_table *t, enum tcp_direction direction)
{
	for (uint32_t i = 0; i < t->n_remotes; i++) {
		const struct tcp_remote *m = &t->remotes[i];

		if (m->used && m->other && m->direction == direction)
			return m;
	}
	return NULL;
}

static uint64_t received(const struct tcp_table *t, unsigned host)
{
	const struct tcp_remote *m = find(t, host, TCP_IN);

	assert_non_null(m);
	return m->counters[TCP_BYTES_RECEIVED];
}

static void idle_samples(struct tcp_table *t, unsigned n)
{
	while (n-- > 0) {
		tcp_table_begin(t);
		tcp_table_end(t);
	}
}

static void test_gauges(void **state)
{
	struct tcp_table *t = tcp_table_new(4, 16);
	struct tcp_sock slow = sock(2, 1, 0);
	const struct tcp_gauges *g;

	(void)state;
	slow.cwnd = 3;
	slow.rtt_us = 900;
	tcp_table_begin(t);
	add(t, 1, 1, 0);
	tcp_table_add(t, &slow, TCP_IN);
	add(t, 1, 1, 0); /* a dump may give a socket twice */
	add(t, 3, 2, 0);
	tcp_table_end(t);
	g = &find(t, 1, TCP_IN)->now;
	assert_int_equal(g->sockets, 2);
	assert_int_equal(g->cwnd_sum, 13);
	assert_int_equal(g->cwnd_min, 3);
	assert_int_equal(g->rtt_sum_us, 1000);
	assert_int_equal(g->rtt_max_us, 900);
	assert_int_equal(g->unacked_sum, 2);
	assert_int_equal(g->unread, 2);
	assert_int_equal(g->rqueue_bytes, 200);
	assert_int_equal(g->wqueue_bytes, 60);
	assert_int_equal(find(t, 2, TCP_IN)->now.sockets, 1);
	assert_null(find(t, 1, TCP_OUT));
	assert_null(other(t, TCP_IN));
	idle_samples(t, 1);
	assert_int_equal(find(t, 1, TCP_IN)->now.sockets, 0);
	tcp_table_free(t);
}

static void test_counters_go_on_while_sockets_come_and_go(void **state)
{
	struct tcp_table *t = tcp_table_new(4, 16);

	(void)state;
	tcp_table_begin(t);
	add(t, 1, 1, 1000000); /* older than we are */
	tcp_table_end(t);
	assert_int_equal(received(t, 1), 0);
	tcp_table_begin(t);
	add(t, 1, 1, 1000005);
	add(t, 2, 1, 70); /* opened since */
	tcp_table_end(t);
	assert_int_equal(received(t, 1), 75);
	tcp_table_begin(t);
	add(t, 2, 1, 80); /* and 1 is gone */
	tcp_table_end(t);
	assert_int_equal(received(t, 1), 85);
	idle_samples(t, TCP_SOCKET_LINGER + 1);
	assert_int_equal(received(t, 1), 85);
	tcp_table_begin(t);
	add(t, 3, 1, 1);
	tcp_table_end(t);
	assert_int_equal(received(t, 1), 86);
	tcp_table_free(t);
}

/* A dump that passes over a socket must not make it count again. */
static void test_socket_missing_from_a_dump(void **state)
{
	struct tcp_table *t = tcp_table_new(4, 16);

	(void)state;
	tcp_table_begin(t);
	add(t, 1, 1, 500);
	tcp_table_end(t);
	idle_samples(t, TCP_SOCKET_LINGER - 1);
	tcp_table_begin(t);
	add(t, 1, 1, 501);
	tcp_table_end(t);
	assert_int_equal(received(t, 1), 1);
	tcp_table_free(t);
}

static void test_sample_begun_again(void **state)
{
	struct tcp_table *t = tcp_table_new(4, 16);

	(void)state;
	idle_samples(t, 1);
	tcp_table_begin(t);
	add(t, 1, 1, 500);
	tcp_table_begin(t); /* the dump was interrupted */
	add(t, 1, 1, 510);
	tcp_table_end(t);
	assert_int_equal(received(t, 1), 510);
	assert_int_equal(find(t, 1, TCP_IN)->now.sockets, 1);
	tcp_table_free(t);
}

static uint64_t retrans_after(uint64_t first, uint64_t second)
{
	struct tcp_table *t = tcp_table_new(4, 16);
	struct tcp_sock s = sock(1, 1, 0);
	uint64_t retrans;

	for (int i = 0; i < 2; i++) {
		s.counters[TCP_RETRANS] = i == 0 ? first : second;
		tcp_table_begin(t);
		tcp_table_add(t, &s, TCP_IN);
		tcp_table_end(t);
	}
	retrans = find(t, 1, TCP_IN)->counters[TCP_RETRANS];
	tcp_table_free(t);
	return retrans;
}

static void test_wrap_and_restart(void **state)
{
	struct tcp_table *t = tcp_table_new(4, 16);

	(void)state;
	assert_int_equal(retrans_after(5, 7), 2);
	assert_int_equal(retrans_after(UINT32_MAX, 3), 4); /* 32 bits wrapped */
	assert_int_equal(retrans_after(100, 3), 3);	   /* disconnected and used again */
	tcp_table_begin(t);
	add(t, 1, 1, 5000);
	tcp_table_end(t);
	tcp_table_begin(t);
	add(t, 1, 1, 40);
	tcp_table_end(t);
	assert_int_equal(received(t, 1), 40);
	tcp_table_free(t);
}

static void test_folding(void **state)
{
	struct tcp_table *t = tcp_table_new(2, 64);

	(void)state;
	for (unsigned sample = 0; sample < 2; sample++) {
		tcp_table_begin(t);
		for (unsigned i = 0; i < 10; i++)
			add(t, i + 1, i / 2, sample * 100); /* two sockets for each of 5 peers */
		tcp_table_end(t);
	}
	assert_int_equal(find(t, 0, TCP_IN)->now.sockets, 2);
	assert_int_equal(find(t, 1, TCP_IN)->now.folded, 0);
	assert_null(find(t, 2, TCP_IN));
	assert_int_equal(other(t, TCP_IN)->now.folded, 3);
	assert_int_equal(other(t, TCP_IN)->now.sockets, 6);
	assert_int_equal(other(t, TCP_IN)->counters[TCP_BYTES_RECEIVED], 600);
	assert_null(other(t, TCP_OUT)); /* each direction has rows of its own */
	idle_samples(t, 1);
	assert_int_equal(other(t, TCP_IN)->now.folded, 0);
	assert_int_equal(other(t, TCP_IN)->counters[TCP_BYTES_RECEIVED], 600);
	tcp_table_free(t);
}

static void test_directions_have_rows_of_their_own(void **state)
{
	struct tcp_table *t = tcp_table_new(1, 16);
	struct tcp_sock out = sock(2, 1, 0);

	(void)state;
	tcp_table_begin(t);
	add(t, 1, 1, 0);
	tcp_table_add(t, &out, TCP_OUT);
	tcp_table_end(t);
	assert_int_equal(find(t, 1, TCP_IN)->now.sockets, 1);
	assert_int_equal(find(t, 1, TCP_OUT)->now.sockets, 1);
	tcp_table_begin(t);
	tcp_table_add(t, &out, TCP_IN); /* it keeps the direction that it had */
	tcp_table_end(t);
	assert_int_equal(find(t, 1, TCP_OUT)->now.sockets, 1);
	assert_int_equal(find(t, 1, TCP_IN)->now.sockets, 0);
	tcp_table_free(t);
}

static void test_socket_table_full(void **state)
{
	struct tcp_table *t = tcp_table_new(2, 3);
	const struct tcp_remote *m;

	(void)state;
	idle_samples(t, 1);
	tcp_table_begin(t);
	for (unsigned i = 1; i <= 5; i++)
		add(t, i, 1, 100);
	tcp_table_end(t);
	m = find(t, 1, TCP_IN);
	assert_int_equal(m->now.sockets, 5);
	assert_int_equal(m->now.untracked, 2);
	assert_int_equal(m->now.cwnd_sum, 50);
	assert_int_equal(received(t, 1), 300);
	/* The tracked ones close; the others then find places, and only their growth counts. */
	for (unsigned i = 0; i <= TCP_SOCKET_LINGER; i++) {
		tcp_table_begin(t);
		add(t, 4, 1, 100);
		add(t, 5, 1, 100);
		tcp_table_end(t);
		assert_int_equal(m->now.untracked, 2);
	}
	tcp_table_begin(t);
	add(t, 4, 1, 150);
	add(t, 5, 1, 150);
	tcp_table_end(t);
	assert_int_equal(m->now.untracked, 0);
	assert_int_equal(received(t, 1), 300);
	tcp_table_begin(t);
	add(t, 4, 1, 151);
	add(t, 6, 1, 1000); /* new for certain: the table has room again */
	tcp_table_end(t);
	assert_int_equal(received(t, 1), 1301);
	tcp_table_free(t);
}

static void test_idle_row_is_reused(void **state)
{
	struct tcp_table *t = tcp_table_new(1, 16);

	(void)state;
	tcp_table_begin(t);
	add(t, 1, 1, 0);
	tcp_table_end(t);
	t->remotes[0].has_row = true;
	idle_samples(t, TCP_REMOTE_IDLE - 1);
	tcp_table_begin(t);
	add(t, 2, 2, 10);
	tcp_table_end(t); /* 1 was idle for TCP_REMOTE_IDLE samples: its row is free from now on */
	assert_null(find(t, 1, TCP_IN));
	assert_int_equal(other(t, TCP_IN)->now.folded, 1);
	tcp_table_begin(t);
	add(t, 2, 2, 15);
	tcp_table_end(t);
	assert_int_equal(received(t, 2), 5); /* the rest is in "other" */
	assert_false(find(t, 2, TCP_IN)->has_row);
	assert_int_equal(other(t, TCP_IN)->now.folded, 0);
	assert_int_equal(other(t, TCP_IN)->counters[TCP_BYTES_RECEIVED], 10);
	tcp_table_free(t);
}

static void test_no_names_left(void **state)
{
	struct tcp_table *t = tcp_table_new(4, 16);

	(void)state;
	t->names_left = 0;
	tcp_table_begin(t);
	add(t, 1, 1, 0);
	tcp_table_end(t);
	assert_null(find(t, 1, TCP_IN));
	assert_int_equal(other(t, TCP_IN)->now.folded, 1);
	tcp_table_free(t);
}

/* Many sockets of many peers through small tables: nothing is lost in the sums. */
static void test_churn(void **state)
{
	struct tcp_table *t = tcp_table_new(8, 64);
	uint64_t bytes = 0;

	(void)state;
	idle_samples(t, 1);
	for (unsigned sample = 0; sample < TCP_REMOTE_IDLE; sample++) {
		uint32_t sockets = 0;

		tcp_table_begin(t);
		for (unsigned i = 0; i < 4; i++)
			add(t, sample * 4 + i + 1, (sample * 4 + i) / 50, 3);
		tcp_table_end(t);
		for (uint32_t i = 0; i < t->n_remotes; i++) {
			sockets += t->remotes[i].now.sockets;
			assert_int_equal(t->remotes[i].now.untracked, 0);
		}
		assert_int_equal(sockets, 4);
	}
	for (uint32_t i = 0; i < t->n_remotes; i++)
		bytes += t->remotes[i].used ? t->remotes[i].counters[TCP_BYTES_RECEIVED] : 0;
	assert_int_equal(bytes, TCP_REMOTE_IDLE * 4 * 3);
	assert_true(t->n_touched <= 4 * (TCP_SOCKET_LINGER + 2));
	tcp_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gauges),
		cmocka_unit_test(test_counters_go_on_while_sockets_come_and_go),
		cmocka_unit_test(test_socket_missing_from_a_dump),
		cmocka_unit_test(test_sample_begun_again),
		cmocka_unit_test(test_wrap_and_restart),
		cmocka_unit_test(test_folding),
		cmocka_unit_test(test_directions_have_rows_of_their_own),
		cmocka_unit_test(test_socket_table_full),
		cmocka_unit_test(test_idle_row_is_reused),
		cmocka_unit_test(test_no_names_left),
		cmocka_unit_test(test_churn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
