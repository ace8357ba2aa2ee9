/* Counting calls: per process, kind of file and kind of call; errors; messages on connections.
 *
 * One set of cells with two fillers: tally_add() counts events (ptrace, full records), and the
 * kernel's own counts are copied into it (summaries of bpf). Everything grows, nothing is reset, so
 * that the recorder's counters are these.
 */
#ifndef TRACE_TALLY_H
#define TRACE_TALLY_H

#include "model/syscalls.h"
#include <stddef.h>

/* Bucket b counts calls of 2^b <= ns < 2^(b+1); the first and the last also count calls beyond
 * that. */
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
	uint16_t nr;	/* with 0x8000: of the 32-bit table */
	uint16_t error; /* errno */
};

/* A TCP connection of a traced process. A message is the data read between two writes.
 *
 * Its reading begins with the first read that returned data: at the start of that call if the
 * descriptor does not block, at its end if it does (waiting for a message is not reading it). It
 * ends with the end of the last read before the next write. Zero-length reads do not count. */
struct tally_conn {
	uint64_t id;	 /* of the socket, not 0: the kernel's address or inode */
	uint32_t pid;	 /* that used it last */
	uint8_t serves;	 /* the local port is one of those served (config.ports), or it was accepted
			  */
	uint8_t reading; /* the last data went in, not out */
	uint8_t closed;	 /* by a process, not necessarily the last that had it open */
	uint8_t pad;
	struct trace_endpoints ends;
	uint64_t n_in, n_out; /* messages */
	uint64_t bytes_in, bytes_out;
	uint64_t read_n, read_ns;  /* messages that were read completely; the time that took */
	int64_t first_ns, last_ns; /* of the message being read */
	/* CLOCK_MONOTONIC of the last data out and in; 0: none, or the connection was closed. */
	int64_t sent_ns, received_ns;
};

struct tally;
struct tally *tally_new(void); /* NULL: out of memory */
void tally_free(struct tally *t);

/* The connection that an event is about, where e->file is TRACE_FILE_TCP. */
struct tally_socket {
	uint64_t id; /* 0: unknown */
	const struct trace_endpoints *ends;
	bool serves, blocks;
};

/* Count an event: a call, or I/O that was completed for one; others are not counted. `socket` may
 * be NULL. Other endpoints under an id that was used before are another connection: the old one's
 * position stays, without an id. 0 or -ENOMEM. */
int tally_add(struct tally *t, const struct trace_event *e, const struct tally_socket *socket);

/* The cell of a key, created if it is new; NULL: out of memory. Valid until the next one is
 * created. Code that copies counts from the kernel sets the difference since the last copy: all of
 * them only grow. */
struct tally_cell *tally_cell(struct tally *t, const struct tally_key *key);
uint64_t *tally_error(struct tally *t, const struct tally_error_key *key);
struct tally_conn *tally_conn(struct tally *t, uint64_t id);

/* What is in it, by position, in the order in which it came. Of those dropped the position is empty
 * (NULL; 0 and a NULL key) until something new takes it. */
size_t tally_n_cells(const struct tally *t);
const struct tally_cell *tally_cell_at(
	const struct tally *t, size_t i, const struct tally_key **ret_key);
size_t tally_n_errors(const struct tally *t);
uint64_t tally_error_at(const struct tally *t, size_t i, const struct tally_error_key **ret_key);
size_t tally_n_conns(const struct tally *t);
const struct tally_conn *tally_conn_at(const struct tally *t, size_t i);

/* Forget one: of a process that ended, a connection that is closed or long idle. The users of its
 * counters have taken them into account. Empty positions are left alone. */
void tally_drop_cell(struct tally *t, size_t i);
void tally_drop_error(struct tally *t, size_t i);
void tally_drop_conn(struct tally *t, size_t i);

#endif
