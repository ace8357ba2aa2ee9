/* What traces say, as far as errors, crashes, hangs and shortages are concerned: a picture of the
 * recent past.
 *
 * Events, changes of descriptors and samples of rows go in, of all observers in the order of time
 * (semantic_reader.h sees to that); of calls only those are kept that failed or took too long. Who
 * serves is known by traces_know(), from what has come so far. traces_forget() gives back what is
 * over.
 */
#ifndef EXPLAIN_SEMANTIC_TRACES_H
#define EXPLAIN_SEMANTIC_TRACES_H

#include "base/hash.h"
#include "base/time.h"
#include "explain/semantic_files.h"
#include "model/hosts.h"
#include "model/syscalls.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACES_NONE UINT32_MAX

/* Failures of a process in the same call with the same errno so close together are one. */
#define TRACES_SAME_NS (NS_PER_SEC / 10)

/* An observer; or a server of which there is no archive, under its address. */
struct traced_host {
	char *name;
	bool traced;		   /* there are logs of system calls of it */
	int64_t first_us, last_us; /* of its data; 0: unknown */
};

/* What somebody was seen to do with TCP connections. */
struct traced_seen {
	bool serves;  /* accept them, read requests from them */
	bool listens; /* for them, on whatever port */
	bool talks;   /* read from or write to them */
};

/* All processes of one name of an observer: the component "s3/sys:glusterfsd". */
struct traced_program {
	uint32_t host;
	char *comm;
	struct traced_seen seen; /* in its rows, and of processes that are forgotten */
	struct traced_seen is;	 /* traces_know(): that, and what its processes do */
	bool serves;		 /* traces_know(): it is a server */
	bool known;		 /* traces_know(): it has processes or rows */
	bool ended;		 /* a process of it that is forgotten has ended */
	int64_t row_us;		 /* its latest sample; 0: none */
	int64_t active_us;	 /* the latest in which it made calls; 0: unknown */
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
	int64_t last_ns; /* of the latest that is known of it */
	struct traced_seen seen;
	struct file_table *files; /* what is behind its descriptors */
	int64_t unnamed_ns;	  /* the latest failure on a descriptor that is not known */
	uint32_t recent[8];	  /* its latest failures, TRACES_NONE: fewer */
	uint32_t n_failures;	  /* ever */
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
};

struct traced_span {
	int64_t from_us, to_us;
};

/* A remote end of connections that processes of an observer opened. */
struct traced_peer {
	uint32_t host;	 /* who opened them */
	uint32_t server; /* the host that has the address */
	uint32_t asked;	 /* how many addresses were known when that was found out */
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
	int64_t row_us;		   /* the latest sample */
};

/* A port of a host at which a process has a socket. */
struct traced_port {
	uint32_t host, process, program; /* program: of a process that is forgotten */
	uint16_t port;
	bool accepted, listens;
	bool served; /* traces_know(): others connect to it */
	int64_t last_ns;
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
	struct strmap by_host, by_program, by_process, by_peer, by_tally, by_port;
	struct strmap pairs; /* "PROCESS NR ERRNO" -> 0 */
	struct traced_pair {
		uint32_t process;
		uint16_t nr, error;
	} * pair_list;
	size_t n_pairs, cap_pairs;
	int64_t now_ns;		       /* of the latest that is known of anybody */
	uint64_t n_born;	       /* processes, ever */
	uint64_t n_lost;	       /* events */
	bool overflow;		       /* there were more failures than are kept */
	const struct hosts *addresses; /* whose they are; may be NULL, and may grow */
};

/* Zero-initialise it and set hang_ns (and gather, addresses). */
void traces_release(struct traces *t);

/* Room for one more in an array of the traces; 0 or -ENOMEM. */
#define TRACES_ROOM(t, items, n, cap)                                                              \
	((t)->n >= TRACES_NONE                                                                     \
			? -ENOMEM                                                                  \
			: array_reserve(&(t)->items, &(t)->cap, (t)->n + 1, sizeof(*(t)->items)))

#define TRACES_KEY_MAX 320
#define TRACES_COMM_UNKNOWN "?"

/* The number of a host, a program, a process, a peer, which may be new; 0 or -ENOMEM. */
int traces_host(struct traces *t, const char *name, uint32_t *ret);
int traces_program(struct traces *t, uint32_t host, const char *comm, uint32_t *ret);
int traces_process(struct traces *t, uint32_t host, int32_t pid, uint32_t *ret);
int traces_peer(struct traces *t, uint32_t host, const char *name, uint32_t *ret);

/* The process that has that number at that time: it may be given again to another one after a
 * while. */
int traces_process_at(struct traces *t, uint32_t host, int32_t pid, int64_t at_ns, uint32_t *ret);

/* The process runs a program of that name. */
int traces_name_process(struct traces *t, uint32_t host, int32_t pid, const char *comm);

/* The same of what runs at that time, and whether it uses TCP; or only that it lives. */
int traces_see_process(
	struct traces *t, uint32_t host, int32_t pid, int64_t at_ns, const char *comm, bool talks);
int traces_see_alive(struct traces *t, uint32_t host, int32_t pid, int64_t at_ns);

/* There is data of the host of that time. */
void traces_see_host(struct traces *t, uint32_t host, int64_t wall_us);

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

/* The i-th stretch in which a peer owed an answer for a second or longer, the last of which may be
 * going on; false: there are fewer. */
bool traces_silence(const struct traced_peer *p, size_t i, struct traced_span *ret);

int traces_add_descriptor(struct traces *t, uint32_t host, const struct trace_descriptor *d);

/* What the call is about, as far as the process' descriptors tell; and what was found out about a
 * failure just now: a server that somebody tried to reach in vain is a peer, too. */
int traces_name_failure(struct traces *t, struct traced_failure *f);
int traces_name_slow(struct traces *t, struct traced_slow *s);

/* Find out who serves, from all that has come so far. Programs serve that were seen to, or that own
 * a port to which others connect. A host that others have connections to, and where nobody was seen
 * to serve (a summary counts requests only once per second, and not what was accepted before),
 * has its server among those that listen; else among those that talk at all; or it is the only
 * program that was traced there. */
int traces_know(struct traces *t);

/* Give back what is over since before that time: failures, calls, silences; processes that ended,
 * peers, programs and hosts of which nothing was heard since. Numbers change. 0 or -ENOMEM (then
 * nothing is lost but memory). */
int traces_forget(struct traces *t, int64_t before_ns);

/* Is the event one that matters, beyond that its process lives? Others need not be kept until their
 * turn comes. */
bool traces_event_matters(const struct traces *t, const struct trace_event *e);

/* The latest that is known of anybody. */
static inline void traces_extend(struct traces *t, int64_t at_ns)
{
	t->now_ns = at_ns > t->now_ns ? at_ns : t->now_ns;
}

/* The key of a tally in `by_tally`. */
void traces_tally_key(
	const struct traces *t, const struct traced_tally *tally, char key[TRACES_KEY_MAX]);

/* Whose is the address of a peer? */
int traces_know_address(struct traces *t, struct traced_peer *p);

/* The program of a port. */
uint32_t traces_port_program(const struct traces *t, const struct traced_port *p);

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
