#include "trace/rows.h"

#include "collect/census.h"
#include "trace/rows_table.h"
#include "unit.h"
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define SECOND INT64_C(1000000000)

/* A tally, its rows, and batches of `cap` samples that carry the last one on. */
struct desk {
	struct tally *t;
	struct trace_rows *r;
	struct collect_sink sink;
	struct lp_batch *batches[2];
	unsigned at;
	int64_t now_ns;
	const char *comm; /* of process 7; others are called "other.PID" */
};

static const char *desk_comm(void *ctx, pid_t pid)
{
	static char buf[32];
	const struct desk *d = ctx;

	if (pid == 7)
		return d->comm;
	snprintf(buf, sizeof(buf), "p %d", pid);
	return buf;
}

static void desk_open(struct desk *d, uint32_t cap)
{
	*d = (struct desk){.t = tally_new(), .comm = "glusterfsd", .now_ns = 100 * SECOND};
	d->r = trace_rows_new("s3", desk_comm, d);
	d->sink.catalogue = lp_catalogue_new();
	d->batches[0] = lp_batch_new(cap);
	d->batches[1] = lp_batch_new(cap);
	assert_true(d->t && d->r && d->sink.catalogue && d->batches[0] && d->batches[1]);
	d->sink.batch = d->batches[0];
}

static void desk_close(struct desk *d)
{
	tally_free(d->t);
	trace_rows_free(d->r);
	lp_catalogue_free(d->sink.catalogue);
	lp_batch_free(d->batches[0]);
	lp_batch_free(d->batches[1]);
}

static void desk_sample(struct desk *d)
{
	struct lp_err err = {0};

	d->now_ns += SECOND;
	assert_int_equal(lp_batch_add_sample(d->sink.batch, d->now_ns / 1000, d->now_ns / 1000), 0);
	assert_int_equal(trace_rows_fill(d->r, d->t, d->now_ns, 0, &d->sink, &err), 0);
}

/* As if the batch had been written. */
static void desk_flush(struct desk *d)
{
	d->at = !d->at;
	assert_int_equal(lp_batch_carry(d->batches[d->at], d->sink.batch), 0);
	d->sink.batch = d->batches[d->at];
}

/* A value of a component ("s3/sys:x") in a sample counted from the last; false: it is absent. */
static bool desk_get(const struct desk *d, const char *component, const char *column, unsigned back,
	int64_t *ret)
{
	const struct lp_batch *b = d->sink.batch;
	char name[256];

	for (uint32_t k = 0; k < b->n_kinds; k++) {
		const struct lp_batch_kind *kind = &b->kinds[k];
		int c = lp_schema_column(&d->sink.catalogue->schemas[kind->schema], column);

		for (uint32_t i = 0; i < kind->n_components; i++) {
			size_t cell = (size_t)i * b->cap_samples + b->n_samples - 1 - back;

			lp_component_name(d->sink.catalogue, kind->ids[i], name, sizeof(name));
			if (strcmp(name, component) != 0)
				continue;
			assert_true(c >= 0);
			*ret = kind->columns[c][cell];
			return kind->state[cell] & LP_PRESENT;
		}
	}
	return false;
}

static int64_t desk_value(const struct desk *d, const char *component, const char *column)
{
	int64_t value = -1;

	if (!desk_get(d, component, column, 0, &value))
		fail_msg("%s is absent", component);
	return value;
}

static void call(struct desk *d, int32_t pid, int nr, unsigned file, int64_t dur, int64_t ret)
{
	struct trace_event e = {.what = TRACE_CALL,
		.pid = pid,
		.tid = pid,
		.nr = (uint16_t)nr,
		.file = (uint8_t)file,
		.start_ns = d->now_ns,
		.dur_ns = dur,
		.ret = ret,
		.args = {3}};

	assert_int_equal(tally_add(d->t, &e, NULL), 0);
}

static void talk(struct desk *d, uint64_t id, uint16_t remote, bool serves, int nr, int64_t ret)
{
	struct trace_endpoints ends = {.family = AF_INET,
		.local_port = htons(1000),
		.remote_port = htons(remote),
		.remote = {10, 77, 0, 3}};
	struct tally_socket socket = {.id = id, .ends = &ends, .serves = serves};
	struct trace_event e = {.what = TRACE_CALL,
		.pid = 7,
		.tid = 7,
		.nr = (uint16_t)nr,
		.file = TRACE_FILE_TCP,
		.start_ns = d->now_ns,
		.dur_ns = 1000,
		.ret = ret};

	assert_int_equal(tally_add(d->t, &e, &socket), 0);
	d->now_ns += 1000;
}

static void test_storage(void **state)
{
	struct desk d;
	int64_t v;

	(void)state;
	desk_open(&d, 10);
	desk_sample(&d);
	call(&d, 7, SYS_pread64, TRACE_FILE_STORAGE, 3000, 4096);
	call(&d, 7, SYS_pread64, TRACE_FILE_STORAGE, 5000, -EIO);
	call(&d, 7, SYS_pwrite64, TRACE_FILE_STORAGE, 900, 512);
	call(&d, 7, SYS_read, TRACE_FILE_TCP, 1, -EAGAIN);
	desk_sample(&d);
	assert_int_equal(desk_value(&d, "s3/sys:glusterfsd", "dread_n"), 2);
	assert_int_equal(desk_value(&d, "s3/sys:glusterfsd", "dread_ns"), 8000);
	assert_int_equal(desk_value(&d, "s3/sys:glusterfsd", "dread_bytes"), 4096);
	assert_int_equal(desk_value(&d, "s3/sys:glusterfsd", "dwrite_n"), 1);
	assert_int_equal(desk_value(&d, "s3/sys:glusterfsd", "dwrite_ns"), 900);
	assert_int_equal(desk_value(&d, "s3/sys:glusterfsd", "dwrite_bytes"), 512);
	assert_int_equal(desk_value(&d, "s3/sys:glusterfsd", "calls"), 4);
	/* That there was nothing to read is no trouble, but it is counted. */
	assert_int_equal(desk_value(&d, "s3/sys:glusterfsd", "errors"), 1);
	assert_int_equal(desk_value(&d, "s3/errno:glusterfsd:pread64:EIO", "n"), 1);
	assert_int_equal(desk_value(&d, "s3/errno:glusterfsd:read:EAGAIN", "n"), 1);
	assert_int_equal(desk_value(&d, "s3/call:glusterfsd.7:storage-read", "n"), 2);
	assert_int_equal(desk_value(&d, "s3/call:glusterfsd.7:storage-read", "errors"), 1);
	assert_int_equal(desk_value(&d, "s3/call:glusterfsd.7:storage-read", "h11"), 1);
	assert_int_equal(desk_value(&d, "s3/call:glusterfsd.7:storage-read", "h12"), 1);
	/* It began at 0 a sample ago, so that its growth is known. */
	assert_true(desk_get(&d, "s3/errno:glusterfsd:pread64:EIO", "n", 1, &v));
	assert_int_equal(v, 0);
	assert_false(trace_rows_behind(d.r));
	assert_int_equal(trace_rows_calls(d.r), 4);
	assert_int_equal(trace_rows_errors(d.r), 1);
	desk_close(&d);
}

/* Where the sample before is written already a row begins at 0 in this one. */
static void test_behind(void **state)
{
	struct desk d;

	(void)state;
	desk_open(&d, 4);
	desk_sample(&d);
	desk_flush(&d);
	call(&d, 7, SYS_read, TRACE_FILE_STORAGE, 10, 5);
	desk_sample(&d);
	assert_int_equal(desk_value(&d, "s3/sys:glusterfsd", "dread_n"), 0);
	assert_true(trace_rows_behind(d.r));
	desk_sample(&d);
	assert_int_equal(desk_value(&d, "s3/sys:glusterfsd", "dread_n"), 1);
	assert_false(trace_rows_behind(d.r));
	desk_flush(&d);
	call(&d, 7, SYS_read, TRACE_FILE_STORAGE, 10, 5);
	desk_sample(&d);
	assert_int_equal(desk_value(&d, "s3/sys:glusterfsd", "dread_n"), 2);
	desk_close(&d);
}

/* A process that executes another program counts for that one from then on. */
static void test_exec(void **state)
{
	struct desk d;

	(void)state;
	desk_open(&d, 10);
	d.comm = "sh";
	desk_sample(&d);
	call(&d, 7, SYS_read, TRACE_FILE_STORAGE, 10, 5);
	call(&d, 7, SYS_openat, TRACE_FILE_NONE, 10, -ENOENT);
	desk_sample(&d);
	d.comm = "dd";
	call(&d, 7, SYS_read, TRACE_FILE_STORAGE, 10, 6);
	call(&d, 7, SYS_openat, TRACE_FILE_NONE, 10, -ENOENT);
	desk_sample(&d);
	assert_int_equal(desk_value(&d, "s3/sys:dd", "dread_bytes"), 6);
	assert_int_equal(desk_value(&d, "s3/call:dd.7:storage-read", "n"), 1);
	assert_int_equal(desk_value(&d, "s3/errno:dd:openat:ENOENT", "n"), 1);
	assert_int_equal(desk_value(&d, "s3/errno:sh:openat:ENOENT", "n"), 1);
	desk_close(&d);
}

static void count_row(void *ctx, enum trace_rows_kind kind, const char *name, const int64_t *values)
{
	(void)kind;
	(void)values;
	if (strstr(name, "?") || name[0] == '_')
		fail_msg("a row called %s", name);
	++*(unsigned *)ctx;
}

/* The kernel still reports counts of a forgotten process: there are no rows for that. */
static void test_forgotten(void **state)
{
	static const unsigned expected[TRACE_ROWS_KINDS] = {[TRACE_ROWS_SYS] = 1,
		[TRACE_ROWS_PEER] = 1,
		[TRACE_ROWS_CALL] = 2,
		[TRACE_ROWS_ERRNO] = 1};
	struct tally_conn *c;
	struct desk d;
	int64_t v;

	(void)state;
	desk_open(&d, 10);
	call(&d, 7, SYS_read, TRACE_FILE_STORAGE, 10, 5);
	call(&d, 7, SYS_openat, TRACE_FILE_NONE, 10, -ENOENT);
	c = tally_conn(d.t, 99);
	assert_non_null(c);
	c->pid = 7;
	c->ends = (struct trace_endpoints){
		.family = AF_INET, .remote_port = htons(24007), .remote = {10, 0, 0, 2}};
	c->read_n = 3;
	desk_sample(&d);
	assert_int_equal(trace_rows_process(d.r, 7, false), 0);
	call(&d, 7, SYS_read, TRACE_FILE_STORAGE, 10, 5);
	c->read_n = 4;
	desk_sample(&d); /* the last of it */
	assert_int_equal(desk_value(&d, "s3/sys:glusterfsd", "dread_n"), 2);
	assert_int_equal(desk_value(&d, "s3/sys:glusterfsd", "ncread_n"), 4);
	d.comm = "?";
	desk_sample(&d);
	assert_false(desk_get(&d, "s3/sys:glusterfsd", "calls", 0, &v));
	assert_int_equal(desk_value(&d, "s3/errno:glusterfsd:openat:ENOENT", "n"), 1);
	for (unsigned k = 0; k < TRACE_ROWS_KINDS; k++) {
		unsigned n = 0;

		trace_rows_each(d.r, k, count_row, &n);
		assert_int_equal(n, expected[k]);
	}
	desk_close(&d);
}

/* A name that retired goes on counting when a process has it again. */
static void test_retired(void **state)
{
	struct census census = {0};
	struct journal journal = {0};
	struct desk d;
	int64_t v;

	(void)state;
	desk_open(&d, 10);
	d.sink.census = &census;
	desk_sample(&d);
	call(&d, 7, SYS_read, TRACE_FILE_STORAGE, 10, 5);
	call(&d, 8, SYS_read, TRACE_FILE_STORAGE, 10, 5);
	desk_sample(&d);
	assert_int_equal(trace_rows_process(d.r, 7, false), 0);
	desk_sample(&d);
	trace_rows_drop(d.r, d.t, 0);
	for (unsigned i = 0; i < CENSUS_HORIZON + 30; i++) {
		desk_sample(&d);
		if (d.sink.batch->n_samples < d.sink.batch->cap_samples)
			continue;
		census_note(&census, d.sink.batch);
		desk_flush(&d);
		census_retire(&census, d.sink.catalogue, &journal);
	}
	assert_true(journal.n >= 2); /* its sys and its call */
	assert_false(desk_get(&d, "s3/sys:glusterfsd", "dread_n", 0, &v));
	desk_flush(&d);
	desk_sample(&d);
	call(&d, 7, SYS_read, TRACE_FILE_STORAGE, 10, 5);
	call(&d, 7, SYS_read, TRACE_FILE_STORAGE, 10, 5);
	desk_sample(&d);
	assert_int_equal(desk_value(&d, "s3/sys:glusterfsd", "dread_n"), 3);
	assert_true(desk_get(&d, "s3/sys:glusterfsd", "dread_n", 1, &v));
	assert_int_equal(v, 1);
	census_release(&census);
	journal_release(&journal);
	desk_close(&d);
}

/* A process that came and went before the first sample is reported in the next one. */
static void test_brief(void **state)
{
	struct desk d;
	int64_t v;

	(void)state;
	for (int drops = 0; drops < 2; drops++) {
		desk_open(&d, 10);
		call(&d, 7, SYS_read, TRACE_FILE_STORAGE, 10, 5);
		assert_int_equal(trace_rows_process(d.r, 7, false), 0);
		desk_sample(&d);
		assert_true(trace_rows_behind(d.r));
		if (drops)
			trace_rows_drop(d.r, d.t, 0);
		assert_int_equal(desk_value(&d, "s3/sys:glusterfsd", "dread_n"), 0);
		desk_sample(&d);
		assert_false(trace_rows_behind(d.r));
		assert_int_equal(desk_value(&d, "s3/sys:glusterfsd", "dread_n"), 1);
		assert_int_equal(desk_value(&d, "s3/call:glusterfsd.7:storage-read", "n"), 1);
		desk_sample(&d);
		assert_false(desk_get(&d, "s3/call:glusterfsd.7:storage-read", "n", 0, &v));
		desk_close(&d);
	}
}

/* Who ended is absent, but what it did last is counted; another with its number starts anew. */
static void test_end(void **state)
{
	struct desk d;
	int64_t v = 0;

	(void)state;
	desk_open(&d, 10);
	desk_sample(&d);
	call(&d, 7, SYS_read, TRACE_FILE_STORAGE, 10, 5);
	desk_sample(&d);
	call(&d, 7, SYS_read, TRACE_FILE_STORAGE, 10, 5);
	assert_int_equal(trace_rows_process(d.r, 7, false), 0);
	desk_sample(&d);
	assert_int_equal(desk_value(&d, "s3/sys:glusterfsd", "dread_n"), 2);
	trace_rows_drop(d.r, d.t, 0);
	desk_sample(&d);
	assert_false(desk_get(&d, "s3/sys:glusterfsd", "dread_n", 0, &v));
	call(&d, 7, SYS_read, TRACE_FILE_STORAGE, 10, 5);
	desk_sample(&d);
	assert_int_equal(desk_value(&d, "s3/sys:glusterfsd", "dread_n"), 3);
	desk_close(&d);
}

static void test_connections(void **state)
{
	struct desk d;

	(void)state;
	desk_open(&d, 10);
	desk_sample(&d);
	talk(&d, 1, 24007, false, SYS_write, 10);
	talk(&d, 1, 24007, false, SYS_read, 10);
	talk(&d, 1, 24007, false, SYS_write, 10);
	talk(&d, 2, 33333, true, SYS_read, 10);
	talk(&d, 2, 33333, true, SYS_write, 10);
	desk_sample(&d);
	assert_int_equal(desk_value(&d, "s3/sys:glusterfsd", "ncread_n"), 1);
	assert_int_equal(desk_value(&d, "s3/sys:glusterfsd", "ncread_ns"), 1000);
	assert_int_equal(desk_value(&d, "s3/sys:glusterfsd", "nsread_n"), 1);
	assert_int_equal(desk_value(&d, "s3/sys:glusterfsd", "nsread_ns"), 1000);
	assert_int_equal(desk_value(&d, "s3/peer:10.77.0.3:24007", "requests"), 2);
	assert_int_equal(desk_value(&d, "s3/peer:10.77.0.3:24007", "responses"), 1);
	assert_int_equal(desk_value(&d, "s3/peer:10.77.0.3:24007", "read_n"), 1);
	/* It sent and nothing has come back for a second. */
	assert_int_equal(desk_value(&d, "s3/peer:10.77.0.3:24007", "waiting_us"), 1000002);
	desk_sample(&d);
	assert_int_equal(desk_value(&d, "s3/peer:10.77.0.3:24007", "waiting_us"), 2000002);
	talk(&d, 1, 24007, false, SYS_read, 10);
	desk_sample(&d);
	assert_int_equal(desk_value(&d, "s3/peer:10.77.0.3:24007", "waiting_us"), 0);
	/* One that is long idle is forgotten; its counters stay. */
	trace_rows_drop(d.r, d.t, d.now_ns + 601 * SECOND);
	assert_null(tally_conn_at(d.t, 0));
	talk(&d, 3, 24007, false, SYS_write, 10);
	desk_sample(&d);
	assert_int_equal(desk_value(&d, "s3/peer:10.77.0.3:24007", "requests"), 3);
	/* One that waits is not idle. */
	trace_rows_drop(d.r, d.t, d.now_ns + 601 * SECOND);
	desk_sample(&d);
	assert_true(desk_value(&d, "s3/peer:10.77.0.3:24007", "waiting_us") > 0);
	desk_close(&d);
}

static void test_stuck(void **state)
{
	struct desk d;

	(void)state;
	desk_open(&d, 10);
	desk_sample(&d);
	assert_int_equal(trace_rows_stuck(d.r, 7, 6 * SECOND), 0);
	assert_int_equal(trace_rows_stuck(d.r, 7, 9 * SECOND), 0);
	desk_sample(&d);
	assert_int_equal(desk_value(&d, "s3/sys:glusterfsd", "stuck"), 2);
	assert_int_equal(desk_value(&d, "s3/sys:glusterfsd", "oldest_us"), 9000000);
	call(&d, 7, SYS_read, TRACE_FILE_STORAGE, 10, 5);
	desk_sample(&d);
	assert_int_equal(desk_value(&d, "s3/sys:glusterfsd", "stuck"), 0);
	assert_int_equal(desk_value(&d, "s3/sys:glusterfsd", "oldest_us"), 0);
	desk_close(&d);
}

/* A name is one word; too many rows become one. */
static void test_names_and_folding(void **state)
{
	struct desk d;
	int64_t sum = 0;

	(void)state;
	desk_open(&d, 10);
	d.comm = "kw/0:1 x";
	desk_sample(&d);
	call(&d, 7, SYS_fsync, TRACE_FILE_STORAGE, 10, 0);
	desk_sample(&d);
	assert_int_equal(desk_value(&d, "s3/sys:kw_0_1_x", "calls"), 1);
	assert_int_equal(trace_rows_folded(d.r), 0);
	for (int32_t pid = 1001; pid <= 1500; pid++)
		call(&d, pid, SYS_read, TRACE_FILE_STORAGE, 10, 1);
	for (uint16_t port = 1; port <= TRACE_ROWS_PEERS_MAX + 10; port++)
		talk(&d, port, port, false, SYS_write, 1);
	desk_sample(&d);
	assert_int_equal(trace_rows_folded(d.r),
		1u << TRACE_ROWS_SYS | 1u << TRACE_ROWS_CALL | 1u << TRACE_ROWS_PEER);
	assert_int_equal(desk_value(&d, "s3/peer:other", "requests"), 10);
	assert_int_equal(desk_value(&d, "s3/sys:p_1001", "calls"), 1);
	sum = desk_value(&d, "s3/sys:other", "calls") + TRACE_ROWS_SYS_MAX - 1;
	assert_int_equal(sum, 500);
	assert_int_equal(trace_rows_calls(d.r), 501 + TRACE_ROWS_PEERS_MAX + 10);
	desk_close(&d);
}

/* Samples in which nothing new happens. */
static void desk_wait(struct desk *d, unsigned samples)
{
	for (unsigned i = 0; i < samples; i++) {
		if (d->sink.batch->n_samples == d->sink.batch->cap_samples)
			desk_flush(d);
		desk_sample(d);
	}
}

static void desk_end(struct desk *d, int32_t pid)
{
	assert_int_equal(trace_rows_process(d->r, pid, false), 0);
}

/* Rows of processes that ended make room for others, after a while. */
static void test_room(void **state)
{
	struct desk d;
	int64_t v;

	(void)state;
	desk_open(&d, 10);
	desk_sample(&d);
	for (int32_t pid = 1001; pid <= 1000 + TRACE_ROWS_CALLS_MAX; pid++)
		call(&d, pid, SYS_read, TRACE_FILE_STORAGE, 10, 1);
	desk_wait(&d, 1);
	call(&d, 2000, SYS_read, TRACE_FILE_STORAGE, 10, 1);
	desk_wait(&d, 1);
	assert_false(desk_get(&d, "s3/call:p_2000.2000:storage-read", "n", 0, &v));
	assert_int_equal(desk_value(&d, "s3/call:other", "n"), 1);
	for (int32_t pid = 1001; pid <= 1000 + TRACE_ROWS_CALLS_MAX; pid++)
		desk_end(&d, pid);
	desk_wait(&d, 1);
	trace_rows_drop(d.r, d.t, d.now_ns);
	desk_wait(&d, TRACE_ROWS_QUIET - 2);
	assert_false(desk_get(&d, "s3/call:p_2000.2000:storage-read", "n", 0, &v));
	desk_wait(&d, 3);
	/* Peers in "other" get a row, as do new ones. */
	call(&d, 2000, SYS_read, TRACE_FILE_STORAGE, 10, 1);
	call(&d, 2001, SYS_read, TRACE_FILE_STORAGE, 10, 1);
	desk_wait(&d, 2);
	assert_int_equal(desk_value(&d, "s3/call:p_2000.2000:storage-read", "n"), 1);
	assert_int_equal(desk_value(&d, "s3/call:p_2001.2001:storage-read", "n"), 1);
	assert_int_equal(desk_value(&d, "s3/sys:p_2001", "calls"), 1);
	assert_int_equal(trace_rows_calls(d.r), TRACE_ROWS_CALLS_MAX + 3);
	desk_close(&d);
}

static void count_any(void *ctx, enum trace_rows_kind kind, const char *name, const int64_t *values)
{
	(void)kind;
	(void)name;
	(void)values;
	++*(unsigned *)ctx;
}

/* A hundred thousand names and processes leave no more than the rows that there may be, and no more
 * names than the archive's catalogue can do with. */
static void test_churn(void **state)
{
	static const unsigned max[TRACE_ROWS_KINDS] = {[TRACE_ROWS_SYS] = TRACE_ROWS_SYS_MAX,
		[TRACE_ROWS_PEER] = TRACE_ROWS_PEERS_MAX,
		[TRACE_ROWS_CALL] = TRACE_ROWS_CALLS_MAX,
		[TRACE_ROWS_ERRNO] = TRACE_ROWS_ERRNOS_MAX};
	enum { PROCESSES = 100000, AT_ONCE = 100 };
	struct desk d;

	(void)state;
	desk_open(&d, 10);
	desk_sample(&d);
	for (int32_t pid = 1000; pid < 1000 + PROCESSES; pid += AT_ONCE) {
		for (int32_t i = 0; i < AT_ONCE; i++) {
			call(&d, pid + i, SYS_read, TRACE_FILE_STORAGE, 10, 1);
			call(&d, pid + i, SYS_openat, TRACE_FILE_NONE, 10, -ENOENT);
			desk_end(&d, pid + i);
		}
		desk_wait(&d, 1);
		trace_rows_drop(d.r, d.t, d.now_ns);
	}
	for (unsigned k = 0; k < TRACE_ROWS_KINDS; k++) {
		unsigned n = 0;

		trace_rows_each(d.r, k, count_any, &n);
		assert_true(n <= max[k] + 1);
	}
	assert_true(tally_n_cells(d.t) <= 2 * AT_ONCE && tally_n_errors(d.t) <= AT_ONCE);
	assert_int_equal(trace_rows_calls(d.r), 2 * PROCESSES);
	assert_int_equal(trace_rows_errors(d.r), PROCESSES);
	/* Each row can have had another name once in TRACE_ROWS_QUIET samples. */
	assert_true(d.sink.catalogue->n_components <=
		(TRACE_ROWS_SYS_MAX + TRACE_ROWS_CALLS_MAX + TRACE_ROWS_ERRNOS_MAX + 3) *
			(PROCESSES / AT_ONCE / TRACE_ROWS_QUIET + 1));
	desk_close(&d);
}

/* A closed connection is soon forgotten, unless another process still uses it. */
static void test_closed(void **state)
{
	struct trace_endpoints ends = {.family = AF_INET};
	struct tally_socket socket = {.id = 1, .ends = &ends, .serves = true};
	struct trace_event e = {
		.what = TRACE_CALL, .pid = 7, .tid = 7, .nr = SYS_close, .file = TRACE_FILE_TCP};
	struct desk d;

	(void)state;
	desk_open(&d, 10);
	talk(&d, 1, 33333, true, SYS_read, 10);
	assert_int_equal(tally_add(d.t, &e, &socket), 0);
	desk_sample(&d);
	trace_rows_drop(d.r, d.t, d.now_ns);
	assert_non_null(tally_conn_at(d.t, 0));
	talk(&d, 1, 33333, true, SYS_read, 10);
	trace_rows_drop(d.r, d.t, d.now_ns + 11 * SECOND);
	assert_non_null(tally_conn_at(d.t, 0));
	assert_int_equal(tally_add(d.t, &e, &socket), 0);
	desk_sample(&d);
	trace_rows_drop(d.r, d.t, d.now_ns + 11 * SECOND);
	assert_null(tally_conn_at(d.t, 0));
	desk_close(&d);
}

static void test_schemas(void **state)
{
	(void)state;
	for (size_t k = 0; k < TRACE_ROWS_KINDS; k++) {
		const struct lp_schema *s = &trace_rows_schemas[k];

		for (uint32_t c = 0; c < s->n_columns; c++) {
			assert_true(s->columns[c].name && s->columns[c].unit);
			assert_int_equal(lp_schema_column(s, s->columns[c].name), c);
		}
	}
	assert_string_equal(trace_rows_schemas[TRACE_ROWS_CALL].columns[43].name, "h39");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_storage),
		cmocka_unit_test(test_behind),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_brief),
		cmocka_unit_test(test_retired),
		cmocka_unit_test(test_forgotten),
		cmocka_unit_test(test_connections),
		cmocka_unit_test(test_stuck),
		cmocka_unit_test(test_names_and_folding),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_churn),
		cmocka_unit_test(test_closed),
		cmocka_unit_test(test_schemas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
