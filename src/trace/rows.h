/* Converts counts to rows of the archive: kinds `sys` (processes by name), `call` (process, kind of
 * file and of call), `errno` (failures by call and errno) and `peer` (remote ends of connections).
 *
 * Counters of rows begin at 0 and grow with the tally, under the name that the process has at that
 * time: a process that executes another program continues under the name of that program.
 */
#ifndef TRACE_ROWS_H
#define TRACE_ROWS_H

#include "collect/collector.h"
#include "trace/tally.h"
#include <sys/types.h>

/* The maximum number of rows per kind; all others are combined in the row "other". Unused rows are
 * replaced (rows_table.h). */
#define TRACE_ROWS_CALLS_MAX 400
#define TRACE_ROWS_ERRNOS_MAX 400
#define TRACE_ROWS_PEERS_MAX 256
#define TRACE_ROWS_SYS_MAX 100

enum trace_rows_kind {
	TRACE_ROWS_SYS = 0,
	TRACE_ROWS_PEER,
	TRACE_ROWS_CALL,
	TRACE_ROWS_ERRNO,
	TRACE_ROWS_KINDS,
};

/* The columns of the rows. */
extern const struct lp_schema trace_rows_schemas[TRACE_ROWS_KINDS];

struct trace_rows;

/* `comm` returns the name of a process. NULL: out of memory. */
struct trace_rows *trace_rows_new(
	const char *observer, const char *(*comm)(void *ctx, pid_t pid), void *ctx);
void trace_rows_free(struct trace_rows *r);

/* A call of this process, which should not wait, has taken this long: for the gauges of the next
 * sample. */
int trace_rows_stuck(struct trace_rows *r, pid_t pid, int64_t dur_ns);

/* A process began, or ended. Rows of ended processes are absent from samples, but their last
 * activity is still counted. 0 or -ENOMEM. */
int trace_rows_process(struct trace_rows *r, pid_t pid, bool alive);

/* Count the tally for the next sample, so that finished entries can be dropped before it. 0 or
 * -ENOMEM. */
int trace_rows_count(struct trace_rows *r, const struct tally *t, int64_t now_mono_ns);

/* Fill the current sample of sink->batch. `lost` is the number of events that were lost. */
int trace_rows_fill(struct trace_rows *r, const struct tally *t, int64_t now_mono_ns, uint64_t lost,
	struct collect_sink *sink, struct lp_err *err);

/* Did the last sample add rows with 0 because there was no earlier sample in the same batch? Their
 * counts show in the next sample, so a session must not end with this one. */
bool trace_rows_behind(const struct trace_rows *r);

/* Kinds (bits, 1 << enum) with combined rows so far. */
unsigned trace_rows_folded(const struct trace_rows *r);

/* Drop cells of ended processes, and connections that are closed or have been idle for ten minutes,
 * after they were counted. */
void trace_rows_drop(struct trace_rows *r, struct tally *t, int64_t now_ns);

/* Call `fn` for every row of a kind, with its name and its values in the order of its columns. */
void trace_rows_each(const struct trace_rows *r, enum trace_rows_kind kind,
	void (*fn)(void *ctx, enum trace_rows_kind kind, const char *name, const int64_t *values),
	void *ctx);

/* Totals over all processes at the last sample: calls, and those that failed (except for EAGAIN,
 * EINPROGRESS and EINTR, which are harmless). */
uint64_t trace_rows_calls(const struct trace_rows *r);
uint64_t trace_rows_errors(const struct trace_rows *r);

#endif
