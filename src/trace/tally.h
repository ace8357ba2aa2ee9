/* Counts calls per process, kind of file and kind of call; errors; and messages on connections.
 *
 * The cells are filled in two ways: tally_add() counts events (ptrace, full records), or the
 * kernel's counts are copied into them (summaries of bpf). Counts only grow and are never reset, so
 * they are the counters of the recorder.
 */
#ifndef TRACE_TALLY_H
#define TRACE_TALLY_H

#include "model/syscalls.h"
#include <stddef.h>

/* Bucket b counts calls of 2^b <= ns < 2^(b+1); the first and the last one also count shorter and
 * longer calls. */
#define TALLY_BUCKETS 40

struct tally_key {
	uint32_t pid;
	uint8_t file; /* enum trace_file */
	uint8_t call; /* enum trace_call */
	uint16_t pad; /* 0 */
};

struct tally_cell {
	uint64_t n, errors;
	uint64_t sum_ns; /* over all calls */
	uint64_t bytes;
	uint64_t buckets[TALLY_BUCKETS];
};

struct tally_error_key {
	uint32_t pid;
	uint16_t nr;	/* 0x8000 is set for the 32-bit table */
	uint16_t error; /* errno */
};

/* A TCP connection of a traced process. A message is the data read between two writes.
 *
 * Its reading begins with the first read that returned data: at the start of that call if the
 * descriptor does not block, at its end if it does (waiting for a message is not reading it). It
 * ends with the end of the last read before the next write. Zero-length reads do not count. */
struct tally_conn {
	uint64_t id;	 /* of the socket, not 0: the kernel's address or inode */
	uint32_t pid;	 /* the last process that used it */
	uint8_t serves;	 /* the local port is served (config.ports), or the connection was accepted
			  */
	uint8_t reading; /* the last data was received, not sent */
	uint8_t closed;	 /* by a process; others may still have it open */
	uint8_t pad;
	struct trace_endpoints ends;
	uint64_t n_in, n_out; /* messages */
	uint64_t bytes_in, bytes_out;
	uint64_t read_n, read_ns;  /* messages that were read completely, and the time for that */
	int64_t first_ns, last_ns; /* of the current message */
	/* CLOCK_MONOTONIC of the last data out and in; 0: none, or the connection was closed. */
	int64_t sent_ns, received_ns;
};

struct tally;
struct tally *tally_new(void); /* NULL: out of memory */
void tally_free(struct tally *t);

/* The connection of an event, if e->file is TRACE_FILE_TCP. */
struct tally_socket {
	uint64_t id; /* 0: unknown */
	const struct trace_endpoints *ends;
	bool serves, blocks;
};

/* Count an event: a call, or I/O that was completed for one; others are not counted. `socket` may
 * be NULL. If an id has other endpoints than before, it is another connection; the old one keeps
 * its index, without an id. 0 or -ENOMEM. */
int tally_add(struct tally *t, const struct trace_event *e, const struct tally_socket *socket);

/* The cell of a key, created if it is new; NULL: out of memory. Valid until the next one is
 * created. Code that copies counts from the kernel adds the growth since the last copy. */
struct tally_cell *tally_cell(struct tally *t, const struct tally_key *key);
uint64_t *tally_error(struct tally *t, const struct tally_error_key *key);
struct tally_conn *tally_conn(struct tally *t, uint64_t id);

/* Entries by index, in the order of addition. The index of a dropped entry is empty (NULL; 0 and a
 * NULL key) until it is reused. */
size_t tally_n_cells(const struct tally *t);
const struct tally_cell *tally_cell_at(
	const struct tally *t, size_t i, const struct tally_key **ret_key);
size_t tally_n_errors(const struct tally *t);
uint64_t tally_error_at(const struct tally *t, size_t i, const struct tally_error_key **ret_key);
size_t tally_n_conns(const struct tally *t);
const struct tally_conn *tally_conn_at(const struct tally *t, size_t i);

/* Forget an entry of an ended process, or a connection that is closed or idle for a long time. The
 * users of its counters must have read them. Does nothing for an empty index. */
void tally_drop_cell(struct tally *t, size_t i);
void tally_drop_error(struct tally *t, size_t i);
void tally_drop_conn(struct tally *t, size_t i);

#endif
