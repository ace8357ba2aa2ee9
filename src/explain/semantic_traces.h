/* What the traces of a dataset say, as far as errors, crashes and hangs are concerned.
 *
 * Events, changes of descriptors and samples of the kinds `sys` and `peer` go in, one archive after
 * the other; of calls only those are kept that failed or took too long. First come names and
 * samples of all archives, then traces_know_servers(), then their events, then traces_want_names(),
 * then their descriptors.
 */
#ifndef EXPLAIN_SEMANTIC_TRACES_H
#define EXPLAIN_SEMANTIC_TRACES_H

#include "base/hash.h"
#include "model/hosts.h"
#include "model/syscalls.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACES_NONE UINT32_MAX
#define NS_PER_SEC INT64_C(1000000000)

/* Failures of a process in the same call with the same errno so close together are one. */
#define TRACES_SAME_NS (NS_PER_SEC / 10)

/* An observer; or a server of which there is no archive, under its address. */
struct traced_host {
	char *name;
	bool traced;		   /* its archive has logs of system calls */
	int64_t first_us, last_us; /* of its archives; 0: unknown */
};

/* All processes of one name of an observer: the component "s3/sys:glusterfsd". */
struct traced_program {
	uint32_t host;
	char *comm;
	bool serves;
	bool listens;	   /* for TCP connections, on whatever port */
	bool talks;	   /* it reads from or writes to TCP connections */
	int64_t active_us; /* the last sample in which it made calls; 0: unknown */
};

struct traced_process {
	uint32_t host, program;
	int32_t pid;
	uint32_t parent; /* the process that it was born of, TRACES_NONE: unknown */
	int64_t born_ns;
	int64_t died_ns; /* 0: nobody saw it end */
	int32_t status;	 /* as of wait(2) */
	int signal;	 /* the last that ends processes with a core, 0: none */
	int64_t signal_ns;
	bool aborted; /* it sent that signal to itself */
	int asked;    /* SIGTERM, SIGINT: somebody wanted it to end; 0: no */
	int64_t asked_ns;
	int64_t last_ns;     /* of the latest that is known of it */
	uint32_t recent[8];  /* its latest failures, TRACES_NONE: fewer */
	uint32_t n_failures; /* ever */
};

/* A call that failed; or (`eof`) the end of a connection that the process had opened. */
struct traced_failure {
	uint32_t process;
	int64_t first_ns, last_ns; /* when it returned; the last of those that are one */
	uint32_t n;
	uint16_t nr, error;
	bool compat, eof;
	uint8_t call, file; /* enum trace_call, enum trace_file */
	int32_t fd;	    /* -1: none */
	char *name;	    /* the path, or what is behind the descriptor; NULL: unknown */
	int64_t name_ns;    /* of the change by which that is known */
};

/* A call that took at least as long as a hang does. */
struct traced_slow {
	uint32_t process;
	int32_t tid;
	int64_t start_ns, dur_ns;
	uint16_t nr;
	bool compat, pending; /* pending: it had not returned when tracing ended */
	uint8_t call, file;
	int32_t fd;
	char *name;
	int64_t name_ns;
};

struct traced_span {
	int64_t from_us, to_us;
};

/* A remote end of connections that processes of an observer opened. */
struct traced_peer {
	uint32_t host;	 /* who opened them */
	uint32_t server; /* the host that has the address */
	char *name;	 /* "10.77.0.3:24007" */
	char *address;
	uint16_t port;
	int64_t requests, responses;
	int64_t first_answer_us, last_answer_us; /* 0: never */
	int64_t last_us;			 /* of its samples */
	struct traced_span *silences;		 /* a request, and no answer to it */
	size_t n_silences, cap_silences;
	struct traced_span silence;  /* going on; to_us 0: none */
	struct traced_span *answers; /* stretches with answers, no more than 2 s apart */
	size_t n_answers, cap_answers;
};

/* One way to fail, as the rows `errno` count it: of all processes of a program. */
struct traced_tally {
	uint32_t program;
	uint16_t nr, error;
	int64_t value;		   /* of the counter, in the latest sample */
	uint64_t n;		   /* since the first sample */
	int64_t first_us, last_us; /* of the samples that counted any; 0: none */
};

struct traced_port {
	uint32_t host, program;
	uint16_t port;
};

struct traces {
	int64_t hang_ns; /* what takes so long hangs */
	bool gather;	 /* training: keep `pairs` */
	struct traced_host *hosts;
	struct traced_program *programs;
	struct traced_process *processes;
	struct traced_failure *failures;
	struct traced_slow *slow;
	struct traced_peer *peers;
	struct traced_port *ports;
	struct traced_tally *tallies;
	size_t n_hosts, n_programs, n_processes, n_failures, n_slow, n_peers, n_ports, n_tallies;
	size_t cap_hosts, cap_programs, cap_processes, cap_failures, cap_slow, cap_peers, cap_ports,
		cap_tallies;
	struct strmap by_host, by_program, by_process, by_peer, by_tally;
	struct strmap pairs; /* "PROGRAM NR ERRNO" -> 0 */
	struct traced_pair {
		uint32_t program;
		uint16_t nr, error;
	} * pair_list;
	size_t n_pairs, cap_pairs;
	int64_t now_ns; /* of the latest that is known of anybody */
	uint64_t n_events, n_lost;
	bool overflow; /* there were more failures than are kept */
	/* Where names are looked for, see traces_want_names(). */
	struct traced_want *wants;
	size_t n_wants;
};

/* Zero-initialise it and set hang_ns (and gather). */
void traces_release(struct traces *t);

/* The number of a host, a program, a process, a peer, which may be new; 0 or -ENOMEM. */
int traces_host(struct traces *t, const char *name, uint32_t *ret);
int traces_program(struct traces *t, uint32_t host, const char *comm, uint32_t *ret);
int traces_process(struct traces *t, uint32_t host, int32_t pid, uint32_t *ret);
int traces_peer(struct traces *t, uint32_t host, const char *name, uint32_t *ret);

/* The process runs a program of that name. */
int traces_name_process(struct traces *t, uint32_t host, int32_t pid, const char *comm);

/* Take note of an event of a process of that host, or of a sample of a peer. 0 or -ENOMEM. */
int traces_add_event(struct traces *t, uint32_t host, const struct trace_event *e);
int traces_add_sample(struct traces *t, uint32_t peer, int64_t wall_us, int64_t requests,
	int64_t responses, int64_t waiting_us);

/* A sample of a row `errno` of a host, "glusterfsd:openat:EMFILE". What is no such name is passed
 * over. 0 or -ENOMEM. */
int traces_add_tally(
	struct traces *t, uint32_t host, const char *name, int64_t wall_us, int64_t value);

/* Does the signal end a process because something went wrong in it (SIGSEGV, SIGABRT, ...)? */
bool traces_signal_is_fatal(int signal);

/* Keep the silence of a peer that is going on, if it is long enough to matter; its samples have
 * ended. */
int traces_end_silence(struct traces *t, uint32_t peer);

/* Events of all archives are in: find out which descriptors need a name. Then take the changes of
 * descriptors of all archives. */
int traces_want_names(struct traces *t);
int traces_add_descriptor(struct traces *t, uint32_t host, const struct trace_descriptor *d);

/* The peers of all archives are in: whose are their addresses? `hosts` (may be NULL) knows. To be
 * called before the first change of a descriptor. */
int traces_know_servers(struct traces *t, const struct hosts *hosts);

/* Descriptors of all archives are in: servers that clients tried to reach in vain are peers, too.
 */
int traces_know_missing(struct traces *t, const struct hosts *hosts);

/* After that: a host that others have connections to, and where nobody was seen to serve (a summary
 * tells of requests only once a second, and not of what was accepted before), has its server among
 * those that listen; else among those that talk at all; or it is the only program that was traced
 * there. */
void traces_guess_servers(struct traces *t);

/* Is the process one that serves? */
static inline bool traces_serves(const struct traces *t, uint32_t process)
{
	return t->programs[t->processes[process].program].serves;
}

/* The program that serves a port of a host (port 0: any); TRACES_NONE if that is not known. */
uint32_t traces_server(const struct traces *t, uint32_t host, uint16_t port);

/* May what happens at a host be the doing of a server? Its processes must have connections to it;
 * clients in the kernel have none that are seen (then `*ret_sure` is false). */
bool traces_linked(const struct traces *t, uint32_t client, uint32_t server, bool *ret_sure);

/* "10.77.0.3:24007" or "[fe80::1]:24007" taken apart; false if it has no such form. */
bool end_parse(const char *text, char *address, size_t size, uint16_t *ret_port);

/* Both ends in the name of a TCP descriptor, "tcp LOCAL REMOTE", as they stand there; false: it is
 * none. The remote end is "" where there is none. */
#define END_MAX 80
bool ends_split(const char *name, char local[END_MAX], char remote[END_MAX]);

#endif
