/* Turns sockets, which come and go, into rows: one per remote address and direction, with gauges of
 * the moment and counters that only grow.
 *
 * The counters of a socket end with it, so the table remembers the last values of every socket and
 * adds the differences to its remote. A socket that exists at the first sample contributes its
 * growth. One that appears later was opened in between and contributes its whole value. The traffic
 * of a socket between the last sample that saw it and its end is lost.
 *
 * All memory is allocated by tcp_table_new(). Addresses without a row share the row "other" of
 * their direction. Sockets without a place in the socket table count in the gauges and in
 * `untracked`, but not in the counters.
 */
#ifndef COLLECT_TCP_TABLE_H
#define COLLECT_TCP_TABLE_H

#include "collect/census.h"
#include "collect/collector.h"
#include "collect/tcp_index.h"
#include "collect/tcp_parse.h"

/* A remote without sockets for this many samples loses its row. */
#define TCP_REMOTE_IDLE 300
/* A socket that was not seen for more than this many dumps is forgotten. A dump may miss a socket
 * while its neighbours close; if it were forgotten immediately, it would later count from 0
 * again. */
#define TCP_SOCKET_LINGER 10
/* The limit on new names is per this many samples. */
#define TCP_NAMES_SAMPLES CENSUS_HORIZON
/* Gauges of one remote in the current sample. */
struct tcp_gauges {
	uint32_t sockets, untracked, folded;
	uint32_t cwnd_min, rtt_max_us;
	uint32_t unread; /* sockets with data that the application has not read */
	uint64_t cwnd_sum, rtt_sum_us, unacked_sum, rqueue_bytes, wqueue_bytes;
};

struct tcp_remote {
	bool used;
	bool other; /* the row of all addresses without their own row */
	enum tcp_direction direction;
	struct tcp_addr addr;
	uint64_t last_seen; /* sample */
	struct tcp_gauges now;
	uint64_t counters[TCP_COUNTERS];
	unsigned counted; /* bit c: counter c is known */
	/* For the code that writes rows: cleared when the row goes to another address. */
	bool has_row;
	struct collect_row row;
};

struct tcp_table {
	/* Per direction max_remotes rows and then the row "other". */
	struct tcp_remote *remotes;
	uint32_t max_remotes, n_remotes;
	uint32_t *live, n_live; /* indexes of the rows in use, usually few */
	/* The number of addresses that may still get their own row in the current
	 * TCP_NAMES_SAMPLES; the code that names rows decrements it. It limits the catalogue, which
	 * forgets names slowly.
	 */
	uint32_t names_left;
	/* The rest is internal to the table. */
	uint32_t *free_remotes[TCP_DIRECTIONS], n_free_remotes[TCP_DIRECTIONS];
	struct tcp_index by_addr;
	struct tcp_entry *entries; /* one per tracked socket */
	uint32_t *free_entries, n_free_entries, n_touched, max_sockets;
	struct tcp_index by_cookie;
	struct tcp_folded *folded;
	uint32_t n_folded, max_folded;
	struct tcp_index by_folded;
	uint64_t dump, sample, seed;
	bool overflowed, overflowed_before;
};

/* Create a table with rows for `max_remotes` addresses per direction and places for `max_sockets`
 * sockets. Folded addresses are distinguished up to a quarter of that; if there are more, `folded`
 * stops there. NULL: out of memory. */
struct tcp_table *tcp_table_new(uint32_t max_remotes, uint32_t max_sockets);
void tcp_table_free(struct tcp_table *t);

/* Begin a sample, or begin it again if its dump was not consistent. */
void tcp_table_begin(struct tcp_table *t);

/* Count one socket. A known socket keeps its direction. A socket that comes twice in a sample
 * counts once. */
void tcp_table_add(struct tcp_table *t, const struct tcp_sock *s, enum tcp_direction direction);

/* The dump is complete: forget sockets that are gone, and rows that were idle for a long time. */
void tcp_table_end(struct tcp_table *t);

#endif
