#include "trace/tally.h"

#include "base/array.h"
#include "unit.h"
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

static struct trace_endpoints ends_of(uint16_t local, uint16_t remote)
{
	struct trace_endpoints e = {
		.family = AF_INET, .local_port = htons(local), .remote_port = htons(remote)};

	memcpy(e.local, (uint8_t[]){10, 0, 0, 1}, 4);
	memcpy(e.remote, (uint8_t[]){10, 0, 0, 2}, 4);
	return e;
}

/* One call of process 7: from `start` to `end`. */
static struct trace_event call_of(int nr, unsigned file, int64_t start, int64_t end, int64_t ret)
{
	return (struct trace_event){.what = TRACE_CALL,
		.pid = 7,
		.tid = 8,
		.nr = (uint16_t)nr,
		.file = (uint8_t)file,
		.start_ns = start,
		.dur_ns = end - start,
		.ret = ret,
		.args = {3, 0, 4096}};
}

struct talk {
	struct tally *t;
	struct trace_endpoints ends;
	struct tally_socket socket;
};

static void talk_init(struct talk *k, bool blocks)
{
	k->t = tally_new();
	assert_non_null(k->t);
	k->ends = ends_of(4000, 24007);
	k->socket = (struct tally_socket){.id = 99, .ends = &k->ends, .blocks = blocks};
}

static void talk(struct talk *k, int nr, int64_t start, int64_t end, int64_t ret)
{
	struct trace_event e = call_of(nr, TRACE_FILE_TCP, start, end, ret);

	assert_int_equal(tally_add(k->t, &e, &k->socket), 0);
}

static const struct tally_conn *only_conn(const struct tally *t)
{
	assert_int_equal(tally_n_conns(t), 1);
	return tally_conn_at(t, 0);
}

/* Where reading does not block it begins with the first call that got something. */
static void test_message_not_blocking(void **state)
{
	const struct tally_conn *c;
	struct talk k;

	(void)state;
	talk_init(&k, false);
	talk(&k, SYS_read, 100, 110, -EAGAIN);
	talk(&k, SYS_write, 200, 210, 50);
	talk(&k, SYS_read, 300, 310, -EAGAIN);
	talk(&k, SYS_read, 400, 420, 10);
	talk(&k, SYS_recvfrom, 450, 500, 30);
	talk(&k, SYS_read, 600, 610, -EAGAIN);
	c = only_conn(k.t);
	assert_int_equal(c->n_in, 1);
	assert_int_equal(c->read_n, 0); /* who knows whether that was all */
	assert_true(c->reading);
	talk(&k, SYS_sendto, 700, 710, 5);
	c = only_conn(k.t);
	assert_int_equal(c->read_n, 1);
	assert_int_equal(c->read_ns, 100); /* 400 to 500 */
	assert_int_equal(c->n_out, 2);
	assert_int_equal(c->bytes_in, 40);
	assert_int_equal(c->bytes_out, 55);
	assert_int_equal(c->sent_ns, 710);
	assert_int_equal(c->received_ns, 500);
	assert_false(c->reading);
	assert_int_equal(c->pid, 7);
	tally_free(k.t);
}

/* Where it blocks, the time until something came was waiting. */
static void test_message_blocking(void **state)
{
	const struct tally_conn *c;
	struct talk k;

	(void)state;
	talk_init(&k, true);
	talk(&k, SYS_write, 0, 10, 100);
	talk(&k, SYS_read, 10, 5000, 8);
	talk(&k, SYS_read, 5010, 5040, 92);
	talk(&k, SYS_write, 6000, 6010, 100);
	talk(&k, SYS_read, 6010, 9000, 100);
	talk(&k, SYS_write, 9100, 9110, 1);
	c = only_conn(k.t);
	assert_int_equal(c->read_n, 2);
	assert_int_equal(c->read_ns, 40); /* 5000 to 5040, and 0 */
	assert_int_equal(c->n_in, 2);
	assert_int_equal(c->n_out, 3);
	tally_free(k.t);
}

/* Several requests at once are one message, as are their answers: no protocol is known. */
static void test_message_pipelined(void **state)
{
	const struct tally_conn *c;
	struct talk k;

	(void)state;
	talk_init(&k, false);
	for (int i = 0; i < 5; i++)
		talk(&k, SYS_writev, 100 * i, 100 * i + 10, 20);
	for (int i = 0; i < 5; i++)
		talk(&k, SYS_readv, 1000 + 100 * i, 1000 + 100 * i + 10, 20);
	talk(&k, SYS_write, 2000, 2001, 20);
	c = only_conn(k.t);
	assert_int_equal(c->n_out, 2);
	assert_int_equal(c->n_in, 1);
	assert_int_equal(c->read_n, 1);
	assert_int_equal(c->read_ns, 410);
	tally_free(k.t);
}

/* Neither an end of file, nor an empty write, nor a failure is data. */
static void test_message_nothing(void **state)
{
	const struct tally_conn *c;
	struct talk k;

	(void)state;
	talk_init(&k, false);
	talk(&k, SYS_read, 0, 10, 0);
	talk(&k, SYS_read, 10, 20, -ECONNRESET);
	assert_int_equal(tally_n_conns(k.t), 0);
	talk(&k, SYS_read, 100, 110, 5);
	talk(&k, SYS_write, 120, 130, 0);
	talk(&k, SYS_write, 130, 140, -EAGAIN);
	talk(&k, SYS_read, 200, 210, 0);
	talk(&k, SYS_write, 300, 310, 5);
	talk(&k, SYS_read, 400, 410, 0);
	c = only_conn(k.t);
	assert_int_equal(c->read_n, 1);
	assert_int_equal(c->read_ns, 10);
	assert_int_equal(c->n_in, 1);
	assert_false(c->reading);
	tally_free(k.t);
}

/* The socket is gone and another has its id: neither's counters fall, and no message spans both. */
static void test_connection_reuse(void **state)
{
	const struct tally_conn *old, *new;
	struct talk k;

	(void)state;
	talk_init(&k, false);
	talk(&k, SYS_read, 100, 110, 5);
	talk(&k, SYS_write, 120, 130, 5);
	talk(&k, SYS_read, 140, 150, 5);
	k.ends = ends_of(4001, 24007);
	k.socket.serves = true;
	talk(&k, SYS_write, 500, 510, 7);
	assert_int_equal(tally_n_conns(k.t), 2);
	old = tally_conn_at(k.t, 0);
	new = tally_conn_at(k.t, 1);
	assert_int_equal(old->id, 0);
	assert_int_equal(old->read_n, 1);
	assert_int_equal(old->bytes_out, 5);
	assert_false(old->serves);
	assert_int_equal(new->id, 99);
	assert_int_equal(new->bytes_out, 7);
	assert_int_equal(new->read_n, 0);
	assert_int_equal(new->n_out, 1);
	assert_true(new->serves);
	assert_ptr_equal(tally_conn(k.t, 99), new);
	tally_drop_conn(k.t, 0);
	assert_null(tally_conn_at(k.t, 0));
	assert_int_equal(tally_conn(k.t, 99)->bytes_out, 7);
	assert_int_equal(tally_conn(k.t, 5)->bytes_out, 0); /* takes the empty place */
	assert_int_equal(tally_n_conns(k.t), 2);
	tally_free(k.t);
}

static void test_without_socket(void **state)
{
	struct trace_event e = call_of(SYS_read, TRACE_FILE_TCP, 0, 10, 10);
	struct tally_socket unknown = {0};
	struct tally *t = tally_new();

	(void)state;
	assert_int_equal(tally_add(t, &e, NULL), 0);
	assert_int_equal(tally_add(t, &e, &unknown), 0);
	assert_int_equal(tally_n_conns(t), 0);
	assert_int_equal(tally_n_cells(t), 1);
	tally_free(t);
}

static const struct tally_cell *cell_of(struct tally *t, unsigned file, unsigned call)
{
	const struct tally_key *key;

	for (size_t i = 0; i < tally_n_cells(t); i++) {
		const struct tally_cell *c = tally_cell_at(t, i, &key);

		if (c && key->pid == 7 && key->file == file && key->call == call)
			return c;
	}
	fail();
	return NULL;
}

static void test_cells(void **state)
{
	const struct trace_event events[] = {
		call_of(SYS_pread64, TRACE_FILE_STORAGE, 0, 1000, 4096),
		call_of(SYS_read, TRACE_FILE_STORAGE, 0, 3000, 100),
		call_of(SYS_read, TRACE_FILE_STORAGE, 0, 5, -EIO),
		call_of(SYS_pwrite64, TRACE_FILE_STORAGE, 0, 7, 12),
		call_of(SYS_write, TRACE_FILE_PIPE, 0, 7, 1),
		call_of(SYS_fsync, TRACE_FILE_STORAGE, 0, 9, 0),
	};
	struct tally *t = tally_new();
	const struct tally_cell *c;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		assert_int_equal(tally_add(t, &events[i], NULL), 0);
	c = cell_of(t, TRACE_FILE_STORAGE, TRACE_CALL_READ);
	assert_int_equal(c->n, 3);
	assert_int_equal(c->errors, 1);
	assert_int_equal(c->bytes, 4196);
	assert_int_equal(c->sum_ns, 4005);
	c = cell_of(t, TRACE_FILE_STORAGE, TRACE_CALL_WRITE);
	assert_int_equal(c->n, 1);
	assert_int_equal(c->bytes, 12);
	c = cell_of(t, TRACE_FILE_STORAGE, TRACE_CALL_SYNC);
	assert_int_equal(c->n, 1);
	assert_int_equal(c->bytes, 0);
	assert_int_equal(tally_n_cells(t), 4);
	tally_free(t);
}

/* Bucket b is 2^b <= ns < 2^(b+1); the ends take what is beyond. */
static void test_buckets(void **state)
{
	static const struct {
		int64_t ns;
		unsigned bucket;
	} cases[] = {{0, 0}, {1, 0}, {2, 1}, {3, 1}, {4, 2}, {1023, 9}, {1024, 10}, {1025, 10},
		{INT64_C(1) << 39, 39}, {(INT64_C(1) << 39) - 1, 38}, {INT64_C(1) << 50, 39},
		{-5, 0}};
	struct tally *t = tally_new();
	uint64_t want[TALLY_BUCKETS] = {0};
	const struct tally_cell *c;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct trace_event e = call_of(SYS_read, TRACE_FILE_STORAGE, 0, cases[i].ns, 1);

		assert_int_equal(tally_add(t, &e, NULL), 0);
		want[cases[i].bucket]++;
	}
	c = cell_of(t, TRACE_FILE_STORAGE, TRACE_CALL_READ);
	assert_memory_equal(c->buckets, want, sizeof(want));
	tally_free(t);
}

static void test_errors(void **state)
{
	struct trace_event e = call_of(SYS_openat, TRACE_FILE_NONE, 0, 5, -ENOENT);
	const struct tally_error_key *key;
	struct tally *t = tally_new();

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(tally_add(t, &e, NULL), 0);
	e.flags = TRACE_COMPAT;
	assert_int_equal(tally_add(t, &e, NULL), 0);
	e = call_of(SYS_read, TRACE_FILE_TCP, 0, 5, -512); /* ERESTARTSYS: it goes on */
	assert_int_equal(tally_add(t, &e, NULL), 0);
	assert_int_equal(tally_n_errors(t), 2);
	assert_int_equal(tally_error_at(t, 0, &key), 3);
	assert_int_equal(key->pid, 7);
	assert_int_equal(key->nr, SYS_openat);
	assert_int_equal(key->error, ENOENT);
	assert_int_equal(tally_error_at(t, 1, &key), 1);
	assert_int_equal(key->nr, SYS_openat | 0x8000);
	assert_int_equal(cell_of(t, TRACE_FILE_TCP, TRACE_CALL_READ)->errors, 0);
	tally_drop_error(t, 0);
	assert_int_equal(tally_error_at(t, 0, &key), 0);
	assert_null(key);
	tally_drop_error(t, 0);
	assert_int_equal(tally_n_errors(t), 2);
	tally_free(t);
}

/* What is no call is no count; what AIO completed is. */
static void test_other_events(void **state)
{
	struct trace_event e = call_of(SYS_read, TRACE_FILE_STORAGE, 0, 5, 10);
	struct tally *t = tally_new();

	(void)state;
	for (unsigned what = TRACE_PENDING; what <= TRACE_LOST; what++) {
		e.what = (uint8_t)what;
		if (what != TRACE_ASYNC)
			assert_int_equal(tally_add(t, &e, NULL), 0);
	}
	assert_int_equal(tally_n_cells(t), 0);
	e.what = TRACE_ASYNC;
	assert_int_equal(tally_add(t, &e, NULL), 0);
	assert_int_equal(cell_of(t, TRACE_FILE_STORAGE, TRACE_CALL_READ)->bytes, 10);
	tally_free(t);
}

/* Processes come and go: places are used again, and what stays is found. */
static void test_drop(void **state)
{
	struct tally *t = tally_new();
	const struct tally_key *key;

	(void)state;
	for (uint32_t pid = 1; pid <= 1000; pid++) {
		struct tally_cell *c = tally_cell(t, &(struct tally_key){.pid = pid, .call = 3});

		assert_non_null(c);
		c->n = pid;
	}
	for (size_t i = 0; i < 1000; i += 2)
		tally_drop_cell(t, i);
	tally_drop_cell(t, 0);
	assert_null(tally_cell_at(t, 0, &key));
	assert_null(key);
	for (uint32_t pid = 2; pid <= 1000; pid += 2)
		assert_int_equal(tally_cell(t, &(struct tally_key){.pid = pid, .call = 3})->n, pid);
	for (uint32_t pid = 2001; pid <= 2500; pid++)
		assert_int_equal(tally_cell(t, &(struct tally_key){.pid = pid})->n, 0);
	assert_int_equal(tally_n_cells(t), 1000);
	tally_free(t);
	tally_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_message_not_blocking),
		cmocka_unit_test(test_message_blocking),
		cmocka_unit_test(test_message_pipelined),
		cmocka_unit_test(test_message_nothing),
		cmocka_unit_test(test_connection_reuse),
		cmocka_unit_test(test_without_socket),
		cmocka_unit_test(test_cells),
		cmocka_unit_test(test_buckets),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_other_events),
		cmocka_unit_test(test_drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
