/* The contents of traces that matter for errors, crashes, hangs and shortages, for the recent past.
 *
 * It takes events, changes of descriptors and samples of rows of all observers in the order of time
 * (semantic_reader.h ensures that). It keeps only calls that failed or took too long. traces_know()
 * finds out which programs serve, from all data so far. traces_forget() frees old state.
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

/* Failures of a process in the same call with the same errno that are this close together count as
 * one. */
#define TRACES_SAME_NS (NS_PER_SEC / 10)

/* An observer, or a server without an archive, which is named by its address. */
struct traced_host {
	char *name;
	bool traced;		   /* it has logs of system calls */
	int64_t first_us, last_us; /* of its data; 0: unknown */
};

/* Observed use of TCP connections. */
struct traced_seen {
	bool serves;  /* accepts connections and reads requests */
	bool listens; /* listens on any port */
	bool talks;   /* reads or writes on connections */
};

/* All processes with one name on an observer: the component "s3/sys:glusterfsd". */
struct traced_program {
	uint32_t host;
	char *comm;
	struct traced_seen seen; /* in its rows, and by processes that are forgotten */
	struct traced_seen is;	 /* traces_know(): the same, and the use by its processes */
	bool serves;		 /* traces_know(): it is a server */
	bool known;		 /* traces_know(): it has processes or rows */
	bool ended;		 /* one of its forgotten processes has ended */
	int64_t row_us;		 /* its latest sample; 0: none */
	int64_t active_us;	 /* the latest sample with calls; 0: unknown */
};

struct traced_process {
	uint32_t host, program;
	int32_t pid;
	uint32_t parent; /* its parent process, TRACES_NONE: unknown */
	int64_t born_ns;
	int64_t died_ns; /* 0: its end was not seen */
	int32_t status;	 /* as in wait(2) */
	int signal;	 /* the last signal that ends processes with a core, 0: none */
	int64_t signal_ns;
	bool aborted; /* it sent that signal to itself */
	int asked;    /* SIGTERM or SIGINT if it was asked to end; 0: no */
	int64_t asked_ns;
	int64_t last_ns; /* of its last known activity */
	struct traced_seen seen;
	struct file_table *files; /* the files behind its descriptors */
	int64_t unnamed_ns;	  /* the latest failure on an unknown descriptor */
	uint32_t recent[8];	  /* its latest failures, TRACES_NONE: fewer */
	uint32_t n_failures;	  /* ever */
};

/* A failed call; `eof`: the end of a connection that the process had opened. */
struct traced_failure {
	uint32_t process;
	int64_t first_ns, last_ns; /* when it returned; the last one of those that count as one */
	uint32_t n;
	uint16_t nr, error;
	bool compat, eof;
	uint8_t call, file; /* enum trace_call, enum trace_file */
	int32_t fd;	    /* -1: none */
	char *name;	    /* the path, or the file behind the descriptor; NULL: unknown */
};

/* A call that took long enough to count as a hang. */
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

/* The remote end of connections that processes of an observer opened. */
struct traced_peer {
	uint32_t host;	 /* the host that opened them */
	uint32_t server; /* the host with this address */
	uint32_t asked;	 /* the number of known addresses when the host was looked up */
	char *name;	 /* "10.77.0.3:24007" */
	char *address;
	uint16_t port;
	int64_t requests, responses;
	int64_t first_answer_us, last_answer_us; /* 0: never */
	int64_t last_us;			 /* of its samples */
	struct traced_span *silences;		 /* times with a request and no answer */
	size_t n_silences, cap_silences;
	struct traced_span silence;  /* the current one; to_us 0: none */
	struct traced_span *answers; /* times with answers that are at most 2 s apart */
	size_t n_answers, cap_answers;
};

/* One kind of failure of all processes of a program, from rows of kind `errno`. */
struct traced_tally {
	uint32_t program;
	uint16_t nr, error;
	int64_t value;		   /* of the counter in the latest sample */
	uint64_t n;		   /* failures since the first sample */
	int64_t first_us, last_us; /* of the samples with failures; 0: none */
	int64_t row_us;		   /* the latest sample */
};

/* A port of a host, and the process that has a socket there. */
struct traced_port {
	uint32_t host, process, program; /* program: if the process was forgotten */
	uint16_t port;
	bool accepted, listens;
	bool served; /* traces_know(): others connect to it */
	int64_t last_ns;
};

struct traces {
	int64_t hang_ns; /* a call that takes this long hangs */
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
	int64_t now_ns;		       /* time of the last known activity of any process */
	uint64_t n_born;	       /* the number of processes so far */
	uint64_t n_lost;	       /* events */
	bool overflow;		       /* there were too many failures to keep all */
	const struct hosts *addresses; /* addresses of observers; may be NULL, and may grow */
};

/* Zero-initialise it and set hang_ns (and gather, addresses). */
void traces_release(struct traces *t);

/* Make room for one more item in an array; 0 or -ENOMEM. */
#define TRACES_ROOM(t, items, n, cap)                                                              \
	((t)->n >= TRACES_NONE                                                                     \
			? -ENOMEM                                                                  \
			: array_reserve(&(t)->items, &(t)->cap, (t)->n + 1, sizeof(*(t)->items)))

#define TRACES_KEY_MAX 320
#define TRACES_COMM_UNKNOWN "?"

/* The index of a host, a program, a process or a peer, which is added if it is new; 0 or
 * -ENOMEM. */
int traces_host(struct traces *t, const char *name, uint32_t *ret);
int traces_program(struct traces *t, uint32_t host, const char *comm, uint32_t *ret);
int traces_process(struct traces *t, uint32_t host, int32_t pid, uint32_t *ret);
int traces_peer(struct traces *t, uint32_t host, const char *name, uint32_t *ret);

/* The process with this pid at this time; pids may be reused later. */
int traces_process_at(struct traces *t, uint32_t host, int32_t pid, int64_t at_ns, uint32_t *ret);

/* Note that the process runs a program with this name. */
int traces_name_process(struct traces *t, uint32_t host, int32_t pid, const char *comm);

/* The same at a given time, with its use of TCP; or note only that it is alive. */
int traces_see_process(
	struct traces *t, uint32_t host, int32_t pid, int64_t at_ns, const char *comm, bool talks);
int traces_see_alive(struct traces *t, uint32_t host, int32_t pid, int64_t at_ns);

/* Note that there is data of the host from that time. */
void traces_see_host(struct traces *t, uint32_t host, int64_t wall_us);

/* Add an event of a process of a host, or a sample of a peer. 0 or -ENOMEM. */
int traces_add_event(struct traces *t, uint32_t host, const struct trace_event *e);
int traces_add_sample(struct traces *t, uint32_t peer, int64_t wall_us, int64_t requests,
	int64_t responses, int64_t waiting_us);

/* Add a sample of an `errno` row of a host, "glusterfsd:openat:EMFILE". Other names are ignored. 0
 * or -ENOMEM. */
int traces_add_tally(
	struct traces *t, uint32_t host, const char *name, int64_t wall_us, int64_t value);

/* Does the signal end a process because of a fault in it (SIGSEGV, SIGABRT, ...)? */
bool traces_signal_is_fatal(int signal);

/* The i-th time in which a peer owed an answer for a second or longer; the last one may continue.
 * False: there are fewer. */
bool traces_silence(const struct traced_peer *p, size_t i, struct traced_span *ret);

int traces_add_descriptor(struct traces *t, uint32_t host, const struct trace_descriptor *d);

/* Find the object of a failed call from the descriptors of its process, and the consequences: a
 * server that could not be reached is a peer, too. */
int traces_name_failure(struct traces *t, struct traced_failure *f);
int traces_name_slow(struct traces *t, struct traced_slow *s);

/* Find out which programs serve, from all data so far: programs that accepted connections, or that
 * own a port to which others connect. If others have connections to a host without such a program
 * (a summary counts requests once per second, and does not show older connections), the server is
 * among the programs that listen, else among those that use TCP, else it is the only program that
 * was traced there. */
int traces_know(struct traces *t);

/* Free state from before that time: failures, calls, silences, processes that ended, and peers,
 * programs and hosts without activity since. Indexes change. 0 or -ENOMEM (which only wastes
 * memory). */
int traces_forget(struct traces *t, int64_t before_ns);

/* Does the event matter, or does it only show that its process is alive? The latter need not be
 * queued. */
bool traces_event_matters(const struct traces *t, const struct trace_event *e);

/* Note activity at that time. */
static inline void traces_extend(struct traces *t, int64_t at_ns)
{
	t->now_ns = at_ns > t->now_ns ? at_ns : t->now_ns;
}

/* The key of a tally in `by_tally`. */
void traces_tally_key(
	const struct traces *t, const struct traced_tally *tally, char key[TRACES_KEY_MAX]);

/* Look up the host of a peer's address. */
int traces_know_address(struct traces *t, struct traced_peer *p);

/* The program of a port. */
uint32_t traces_port_program(const struct traces *t, const struct traced_port *p);

/* Does the process serve? */
static inline bool traces_serves(const struct traces *t, uint32_t process)
{
	return t->programs[t->processes[process].program].serves;
}

/* The program that serves a port of a host (port 0: any); TRACES_NONE: unknown. */
uint32_t traces_server(const struct traces *t, uint32_t host, uint16_t port);

/* Can a server have caused an event on a host? Processes of the host must have connections to the
 * server. Connections of clients in the kernel are not visible; then `*ret_sure` is false. */
bool traces_linked(const struct traces *t, uint32_t client, uint32_t server, bool *ret_sure);

/* Split "10.77.0.3:24007" or "[fe80::1]:24007"; false if the text has another form. */
bool end_parse(const char *text, char *address, size_t size, uint16_t *ret_port);

/* Find both ends in the name of a TCP descriptor, "tcp LOCAL REMOTE"; false: it is not TCP. The
 * remote end is "" if there is none. */
#define END_MAX 80
bool ends_split(const char *name, char local[END_MAX], char remote[END_MAX]);

#endif
