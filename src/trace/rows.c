#include "trace/rows.h"

#include "base/array.h"
#include "base/idmap.h"
#include "base/time.h"
#include "model/endpoints.h"
#include "trace/rows_table.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMM_MAX 32
/* A connection that is unused for this long is forgotten; later use makes it a new one. */
#define IDLE_NS (600 * NS_PER_SEC)
/* The same for a closed connection, which other processes may still use. */
#define CLOSED_NS (10 * NS_PER_SEC)
/* The counts so far of one cell of the tally. */
struct seen_cell {
	struct tally_key key;
	struct tally_cell cell;
	uint32_t sys; /* index of the row of its name, plus 1; 0: none yet */
	uint32_t call;
};

struct seen_error {
	struct tally_error_key key;
	uint64_t n;
	uint32_t sys, errno_row;
};

struct seen_conn {
	struct tally_conn conn;
	uint32_t peer; /* index plus 1; 0: none yet */
};

struct trace_rows {
	char *observer;
	const char *(*comm)(void *ctx, pid_t pid);
	void *ctx;
	struct rows_table kinds[TRACE_ROWS_KINDS];
	struct seen_cell *cells;
	struct seen_error *errors;
	struct seen_conn *conns;
	size_t cap_cells, cap_errors, cap_conns;
	struct idmap ended; /* processes */
	bool behind;
};

struct trace_rows *trace_rows_new(
	const char *observer, const char *(*comm)(void *ctx, pid_t pid), void *ctx)
{
	struct trace_rows *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->observer = strdup(observer);
	r->comm = comm;
	r->ctx = ctx;
	r->kinds[TRACE_ROWS_SYS].max = TRACE_ROWS_SYS_MAX;
	r->kinds[TRACE_ROWS_PEER].max = TRACE_ROWS_PEERS_MAX;
	r->kinds[TRACE_ROWS_CALL].max = TRACE_ROWS_CALLS_MAX;
	r->kinds[TRACE_ROWS_ERRNO].max = TRACE_ROWS_ERRNOS_MAX;
	if (!r->observer) {
		free(r);
		return NULL;
	}
	return r;
}

void trace_rows_each(const struct trace_rows *r, enum trace_rows_kind kind,
	void (*fn)(void *ctx, enum trace_rows_kind kind, const char *name, const int64_t *values),
	void *ctx)
{
	for (size_t i = 0; i < r->kinds[kind].n; i++)
		fn(ctx, kind, r->kinds[kind].items[i].name, r->kinds[kind].items[i].values);
}

uint64_t trace_rows_calls(const struct trace_rows *r)
{
	uint64_t sum = (uint64_t)r->kinds[TRACE_ROWS_SYS].past_calls;

	for (size_t i = 0; i < r->kinds[TRACE_ROWS_SYS].n; i++)
		sum += (uint64_t)r->kinds[TRACE_ROWS_SYS].items[i].values[SYS_CALLS];
	return sum;
}

uint64_t trace_rows_errors(const struct trace_rows *r)
{
	uint64_t sum = (uint64_t)r->kinds[TRACE_ROWS_SYS].past_errors;

	for (size_t i = 0; i < r->kinds[TRACE_ROWS_SYS].n; i++)
		sum += (uint64_t)r->kinds[TRACE_ROWS_SYS].items[i].values[SYS_ERRORS];
	return sum;
}

void trace_rows_free(struct trace_rows *r)
{
	if (!r)
		return;
	for (size_t k = 0; k < TRACE_ROWS_KINDS; k++)
		rows_table_release(&r->kinds[k]);
	free(r->cells);
	free(r->errors);
	free(r->conns);
	idmap_release(&r->ended);
	free(r->observer);
	free(r);
}

/* The name of a process as a word of component names. */
static const char *comm_word(struct trace_rows *r, uint32_t pid, char buf[COMM_MAX])
{
	const char *name = r->comm(r->ctx, (pid_t)pid);
	size_t n = 0;

	for (; name[n] && n + 1 < COMM_MAX; n++)
		buf[n] =
			isalnum((unsigned char)name[n]) || strchr("._+@-", name[n]) ? name[n] : '_';
	buf[n] = '\0';
	return n ? buf : "_";
}

static uint32_t sys_row(struct trace_rows *r, uint32_t pid, char word[COMM_MAX])
{
	const char *name = comm_word(r, pid, word);

	if (name != word)
		snprintf(word, COMM_MAX, "%s", name);
	return rows_table_find(&r->kinds[TRACE_ROWS_SYS], word);
}

static struct row *row_at(struct trace_rows *r, enum trace_rows_kind kind, uint32_t one_more)
{
	return rows_table_at(&r->kinds[kind], one_more);
}

static bool process_ended(const struct trace_rows *r, uint32_t pid)
{
	uint32_t at;

	return idmap_get(&r->ended, pid, &at);
}

int trace_rows_process(struct trace_rows *r, pid_t pid, bool alive)
{
	if (!alive)
		return idmap_put(&r->ended, (uint64_t)pid, 0);
	idmap_remove(&r->ended, (uint64_t)pid);
	return 0;
}

int trace_rows_stuck(struct trace_rows *r, pid_t pid, int64_t dur_ns)
{
	char word[COMM_MAX];
	uint32_t sys = sys_row(r, (uint32_t)pid, word);
	struct row *row;

	if (!sys)
		return -ENOMEM;
	row = row_at(r, TRACE_ROWS_SYS, sys);
	row->present = true;
	row->values[SYS_STUCK]++;
	if (dur_ns / 1000 > row->values[SYS_OLDEST_US])
		row->values[SYS_OLDEST_US] = dur_ns / 1000;
	return 0;
}

/* The growth of a cell since the last sample; from 0 if it is another one. */
static void cell_growth(
	const struct tally_cell *now, const struct seen_cell *seen, struct tally_cell *ret)
{
	const uint64_t *a = (const uint64_t *)now, *b = (const uint64_t *)&seen->cell;
	uint64_t *d = (uint64_t *)ret;

	for (size_t i = 0; i < sizeof(*now) / sizeof(*a); i++)
		d[i] = a[i] >= b[i] ? a[i] - b[i] : a[i];
}

static void count_sys(struct row *sys, const struct tally_key *key, const struct tally_cell *d)
{
	int64_t *v = sys->values;

	v[SYS_CALLS] += (int64_t)d->n;
	if (key->file != TRACE_FILE_STORAGE)
		return;
	if (key->call == TRACE_CALL_READ) {
		v[SYS_DREAD_N] += (int64_t)d->n;
		v[SYS_DREAD_NS] += (int64_t)d->sum_ns;
		v[SYS_DREAD_BYTES] += (int64_t)d->bytes;
	} else if (key->call == TRACE_CALL_WRITE) {
		v[SYS_DWRITE_N] += (int64_t)d->n;
		v[SYS_DWRITE_NS] += (int64_t)d->sum_ns;
		v[SYS_DWRITE_BYTES] += (int64_t)d->bytes;
	}
}

static void count_call(struct row *call, const struct tally_cell *d)
{
	int64_t *v = call->values;

	v[CALL_N] += (int64_t)d->n;
	v[CALL_ERRORS] += (int64_t)d->errors;
	v[CALL_NS] += (int64_t)d->sum_ns;
	v[CALL_BYTES] += (int64_t)d->bytes;
	for (size_t b = 0; b < TALLY_BUCKETS; b++)
		v[CALL_BUCKETS + b] += (int64_t)d->buckets[b];
}

/* Forget everything about a cell. */
static void cell_forget(struct trace_rows *r, struct seen_cell *seen)
{
	rows_table_use(&r->kinds[TRACE_ROWS_SYS], &seen->sys, 0);
	rows_table_use(&r->kinds[TRACE_ROWS_CALL], &seen->call, 0);
	*seen = (struct seen_cell){0};
}

/* The rows to which a cell is added: others than before if the process has another name now. */
static int cell_rows(struct trace_rows *r, struct seen_cell *seen)
{
	char word[COMM_MAX], name[ROW_NAME_MAX];
	struct rows_table *calls = &r->kinds[TRACE_ROWS_CALL];
	uint32_t sys = sys_row(r, seen->key.pid, word);

	if (sys && sys == seen->sys && !rows_table_moves(calls, seen->call))
		return 0;
	snprintf(name, sizeof(name), "%s.%u:%s-%s", word, seen->key.pid,
		trace_file_name(seen->key.file), trace_call_name(seen->key.call));
	rows_table_use(&r->kinds[TRACE_ROWS_SYS], &seen->sys, sys);
	rows_table_use(calls, &seen->call, rows_table_find(calls, name));
	return seen->sys && seen->call ? 0 : -ENOMEM;
}

static int fill_cells(struct trace_rows *r, const struct tally *t)
{
	size_t n = tally_n_cells(t);

	if (array_reserve(&r->cells, &r->cap_cells, n, sizeof(*r->cells)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct seen_cell *seen = &r->cells[i];
		const struct tally_key *key;
		const struct tally_cell *cell = tally_cell_at(t, i, &key);
		struct tally_cell d;

		if (!cell)
			continue;
		if (memcmp(&seen->key, key, sizeof(*key)) != 0) {
			cell_forget(r, seen);
			seen->key = *key;
		}
		cell_growth(cell, seen, &d);
		if (!d.n && process_ended(r, key->pid)) /* its name is no longer known */
			continue;
		if (cell_rows(r, seen) < 0)
			return -ENOMEM;
		seen->cell = *cell;
		count_sys(row_at(r, TRACE_ROWS_SYS, seen->sys), key, &d);
		count_call(row_at(r, TRACE_ROWS_CALL, seen->call), &d);
		row_at(r, TRACE_ROWS_SYS, seen->sys)->present = true;
		row_at(r, TRACE_ROWS_CALL, seen->call)->present = true;
	}
	return 0;
}

/* Failures that are normal for non-blocking descriptors, or for signals. */
static bool is_ordinary(int error)
{
	return error == EAGAIN || error == EINPROGRESS || error == EINTR;
}

static void error_forget(struct trace_rows *r, struct seen_error *seen)
{
	rows_table_use(&r->kinds[TRACE_ROWS_SYS], &seen->sys, 0);
	rows_table_use(&r->kinds[TRACE_ROWS_ERRNO], &seen->errno_row, 0);
	*seen = (struct seen_error){0};
}

static int error_rows(struct trace_rows *r, struct seen_error *seen)
{
	const struct syscall_info *call = seen->key.nr & 0x8000
		? syscall_get_compat(seen->key.nr & 0x7fff)
		: syscall_get(seen->key.nr);
	char word[COMM_MAX], name[ROW_NAME_MAX], error[SYSCALL_NAME_MAX], number[16];
	struct rows_table *errnos = &r->kinds[TRACE_ROWS_ERRNO];
	uint32_t sys = sys_row(r, seen->key.pid, word);

	if (sys && sys == seen->sys && !rows_table_moves(errnos, seen->errno_row))
		return 0;
	snprintf(number, sizeof(number), "call%u", seen->key.nr & 0x7fffu);
	snprintf(name, sizeof(name), "%s:%s:%s", word, call ? call->name : number,
		errno_name(seen->key.error, error));
	rows_table_use(&r->kinds[TRACE_ROWS_SYS], &seen->sys, sys);
	rows_table_use(errnos, &seen->errno_row, rows_table_find(errnos, name));
	return seen->sys && seen->errno_row ? 0 : -ENOMEM;
}

static int fill_errors(struct trace_rows *r, const struct tally *t)
{
	size_t n = tally_n_errors(t);

	if (array_reserve(&r->errors, &r->cap_errors, n, sizeof(*r->errors)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct seen_error *seen = &r->errors[i];
		const struct tally_error_key *key;
		uint64_t now = tally_error_at(t, i, &key);
		int64_t d;

		if (!key)
			continue;
		if (memcmp(&seen->key, key, sizeof(*key)) != 0) {
			error_forget(r, seen);
			seen->key = *key;
		}
		d = (int64_t)(now >= seen->n ? now - seen->n : now);
		if (!d && process_ended(r, key->pid))
			continue;
		if (error_rows(r, seen) < 0)
			return -ENOMEM;
		seen->n = now;
		row_at(r, TRACE_ROWS_ERRNO, seen->errno_row)->values[ERRNO_N] += d;
		if (!is_ordinary(key->error))
			row_at(r, TRACE_ROWS_SYS, seen->sys)->values[SYS_ERRORS] += d;
	}
	return 0;
}

static int64_t growth(uint64_t now, uint64_t before)
{
	return (int64_t)(now >= before ? now - before : now);
}

/* The time since data was sent without an answer. */
static int64_t waiting_us(const struct tally_conn *c, int64_t now_ns)
{
	if (!c->sent_ns || c->received_ns >= c->sent_ns || now_ns <= c->sent_ns)
		return 0;
	return (now_ns - c->sent_ns) / 1000;
}

static void conn_forget(struct trace_rows *r, struct seen_conn *seen)
{
	rows_table_use(&r->kinds[TRACE_ROWS_PEER], &seen->peer, 0);
	*seen = (struct seen_conn){0};
}

static int count_peer(
	struct trace_rows *r, const struct tally_conn *c, struct seen_conn *seen, int64_t now_ns)
{
	struct rows_table *peers = &r->kinds[TRACE_ROWS_PEER];
	char name[ENDPOINT_TEXT_MAX];
	int64_t wait, *v;

	if (!seen->peer || rows_table_moves(peers, seen->peer))
		rows_table_use(peers, &seen->peer,
			rows_table_find(peers, endpoints_remote(&c->ends, name)));
	if (!seen->peer)
		return -ENOMEM;
	v = row_at(r, TRACE_ROWS_PEER, seen->peer)->values;
	v[PEER_REQUESTS] += growth(c->n_out, seen->conn.n_out);
	v[PEER_RESPONSES] += growth(c->n_in, seen->conn.n_in);
	v[PEER_READ_N] += growth(c->read_n, seen->conn.read_n);
	v[PEER_READ_NS] += growth(c->read_ns, seen->conn.read_ns);
	wait = process_ended(r, c->pid) ? 0 : waiting_us(c, now_ns);
	if (wait > v[PEER_WAITING_US])
		v[PEER_WAITING_US] = wait;
	row_at(r, TRACE_ROWS_PEER, seen->peer)->present = true;
	return 0;
}

/* Count the results of its process. */
static int count_conn(
	struct trace_rows *r, const struct tally_conn *c, const struct seen_conn *seen)
{
	int64_t n = growth(c->read_n, seen->conn.read_n);
	char word[COMM_MAX];
	uint32_t sys;
	int64_t *v;

	if (!n && process_ended(r, c->pid))
		return 0;
	sys = sys_row(r, c->pid, word);
	if (!sys)
		return -ENOMEM;
	v = row_at(r, TRACE_ROWS_SYS, sys)->values;
	v[c->serves ? SYS_NSREAD_N : SYS_NCREAD_N] += n;
	v[c->serves ? SYS_NSREAD_NS : SYS_NCREAD_NS] += growth(c->read_ns, seen->conn.read_ns);
	return 0;
}

static int fill_conns(struct trace_rows *r, const struct tally *t, int64_t now_ns)
{
	size_t n = tally_n_conns(t);

	if (array_reserve(&r->conns, &r->cap_conns, n, sizeof(*r->conns)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct seen_conn *seen = &r->conns[i];
		const struct tally_conn *c = tally_conn_at(t, i);

		if (!c || !c->pid)
			continue;
		/* The kernel may have reused the place for another connection. */
		if (memcmp(&seen->conn.ends, &c->ends, sizeof(c->ends)) != 0)
			conn_forget(r, seen);
		if (count_conn(r, c, seen) < 0)
			return -ENOMEM;
		if (!c->serves && c->ends.family && count_peer(r, c, seen, now_ns) < 0)
			return -ENOMEM;
		seen->conn = *c;
	}
	return 0;
}

static int store_kind(struct trace_rows *r, enum trace_rows_kind kind, struct collect_sink *sink,
	struct lp_err *err)
{
	struct rows_table *rows = &r->kinds[kind];
	int got = 0;

	for (size_t i = 0; got == 0 && i < rows->n; i++) {
		struct row *row = &rows->items[i];
		bool behind = false;

		if (!row->present)
			continue;
		got = counted_row_store(&row->place, sink, &trace_rows_schemas[kind], r->observer,
			row->name, row->values, row->last, &behind, err);
		row->present = behind; /* in the next one, even if it has ended by then */
		r->behind |= behind;
	}
	return got;
}

/* Reset the values that apply to one sample only. */
static void gauges_reset(struct trace_rows *r)
{
	for (size_t i = 0; i < r->kinds[TRACE_ROWS_SYS].n; i++) {
		int64_t *v = r->kinds[TRACE_ROWS_SYS].items[i].values;

		v[SYS_STUCK] = v[SYS_OLDEST_US] = 0;
	}
	for (size_t i = 0; i < r->kinds[TRACE_ROWS_PEER].n; i++)
		r->kinds[TRACE_ROWS_PEER].items[i].values[PEER_WAITING_US] = 0;
}

int trace_rows_count(struct trace_rows *r, const struct tally *t, int64_t now_mono_ns)
{
	if (fill_cells(r, t) < 0 || fill_errors(r, t) < 0)
		return -ENOMEM;
	return fill_conns(r, t, now_mono_ns);
}

int trace_rows_fill(struct trace_rows *r, const struct tally *t, int64_t now_mono_ns, uint64_t lost,
	struct collect_sink *sink, struct lp_err *err)
{
	int got = 0;

	r->behind = false;
	for (unsigned k = 0; k < TRACE_ROWS_KINDS; k++)
		r->kinds[k].sample++;
	if (trace_rows_count(r, t, now_mono_ns) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot fill a sample");
	for (size_t i = 0; i < r->kinds[TRACE_ROWS_SYS].n; i++)
		r->kinds[TRACE_ROWS_SYS].items[i].values[SYS_LOST] = (int64_t)lost;
	/* Failures are rare and important, so their counts stay. */
	for (size_t i = 0; i < r->kinds[TRACE_ROWS_ERRNO].n; i++)
		r->kinds[TRACE_ROWS_ERRNO].items[i].present = true;
	for (unsigned k = 0; got == 0 && k < TRACE_ROWS_KINDS; k++)
		got = store_kind(r, k, sink, err);
	gauges_reset(r);
	return got;
}

bool trace_rows_behind(const struct trace_rows *r)
{
	return r->behind;
}

unsigned trace_rows_folded(const struct trace_rows *r)
{
	unsigned kinds = 0;

	for (unsigned k = 0; k < TRACE_ROWS_KINDS; k++)
		kinds |= (unsigned)r->kinds[k].folded << k;
	return kinds;
}

static void drop_processes(struct trace_rows *r, struct tally *t)
{
	const struct tally_error_key *error;
	const struct tally_key *key;

	for (size_t i = 0; i < tally_n_cells(t); i++) {
		if (!tally_cell_at(t, i, &key) || !process_ended(r, key->pid))
			continue;
		tally_drop_cell(t, i);
		cell_forget(r, &r->cells[i]);
	}
	for (size_t i = 0; i < tally_n_errors(t); i++) {
		tally_error_at(t, i, &error);
		if (!error || !process_ended(r, error->pid))
			continue;
		tally_drop_error(t, i);
		error_forget(r, &r->errors[i]);
	}
}

/* A connection that waits for an answer is not idle, however long it waits. */
static bool conn_is_over(const struct trace_rows *r, const struct tally_conn *c, int64_t now_ns)
{
	int64_t since_ns = now_ns - (c->closed ? CLOSED_NS : IDLE_NS);

	return !c->id || process_ended(r, c->pid) ||
		(c->sent_ns < since_ns && c->received_ns < since_ns &&
			c->received_ns >= c->sent_ns);
}

void trace_rows_drop(struct trace_rows *r, struct tally *t, int64_t now_ns)
{
	if (r->ended.n)
		drop_processes(r, t);
	for (size_t i = 0; i < tally_n_conns(t); i++) {
		const struct tally_conn *c = tally_conn_at(t, i);

		if (!c || !conn_is_over(r, c, now_ns))
			continue;
		tally_drop_conn(t, i);
		conn_forget(r, &r->conns[i]);
	}
	idmap_release(&r->ended);
}
