/* The internal interface of the backend that works inside the kernel. */
#ifndef TRACE_BACKEND_BPF_H
#define TRACE_BACKEND_BPF_H

#include "trace/backend.h"
#include "trace/backend_bpf_entries.h"
#include "trace/bpf/shared.h"
#include <stdbool.h>
#include <stddef.h>

struct bpf_object;
struct bpf_link;

/* The compiled programs (backend_bpf_object.c). */
extern const char bpf_programs[];
extern const size_t bpf_programs_size;

#define BPF_LINKS_MAX 16

/* The ring between the kernel and the tracer, in the kernel's memory layout. */
struct bpf_ring {
	unsigned char *consumer, *producer; /* pages with the position of each side */
	const unsigned char *data;	    /* mapped twice in a row, so that no record is split */
	uint64_t size, page;
	int fd, epoll_fd;
	char path[TRACE_TEXT_MAX]; /* of the current event */
};

/* The last counts that tally() read from the kernel (backend_bpf_tally.c). */
struct bpf_counts;

struct bpf_tracer {
	struct bpf_object *object;
	struct bpf_link *links[BPF_LINKS_MAX];
	unsigned n_links;
	int processes_fd;
	struct bpf_link *scan, *pending; /* iterators; NULL if the kernel has none */
	struct bpf_shared *shared;
	struct bpf_ring ring;
	struct trace_sink sink;
	struct bpf_entries processes;
	int64_t swept_ns; /* when bpf_sweep() last worked */
	uint16_t *ports;  /* a copy of the ports that are served */
	char **comms;	  /* copies of the targets */
	uid_t *uids;
	unsigned n_ports, n_comms, n_uids;
	pid_t command; /* the process that was started; 0: none */
	int command_status;
	bool command_ended;
	bool lasting; /* targets may appear later, even if there are none now */
	bool records;
	char *cgroup;
	struct bpf_counts *counts;
};

/* Load the programs for `config`, map the shared memory, and attach the programs. */
int bpf_tracer_load(struct bpf_tracer *t, const struct trace_config *config, struct lp_err *err);
int bpf_tracer_attach(struct bpf_tracer *t, struct lp_err *err);
void bpf_tracer_unload(struct bpf_tracer *t);
/* How often the kernel skipped a program because it was already running. */
uint64_t bpf_tracer_misses(const struct bpf_tracer *t);
/* A map of the object by its name, -1 if it does not exist. */
int bpf_tracer_map(const struct bpf_tracer *t, const char *name);
/* Can programs be loaded at all? 0, or an error with the reason. */
int bpf_tracer_probe(struct lp_err *err);
/* Activity that this kernel cannot show. */
const char *bpf_tracer_unseen(void);

/* Find the targets, start the command, and make sure that all their threads are known. */
int bpf_targets_open(struct bpf_tracer *t, const struct trace_targets *targets, struct lp_err *err);
void bpf_targets_close(struct bpf_tracer *t);
/* Look again for unknown threads; `all`: also for processes. */
int bpf_targets_scan(struct bpf_tracer *t, bool all, struct lp_err *err);
/* Forget processes if the programs missed their end. */
void bpf_targets_drop_ended(struct bpf_tracer *t);
/* Notice the end of the command. */
void bpf_targets_reap(struct bpf_tracer *t);

/* The ring: open it (`fd` is the descriptor of the map), close it (even if it could not be opened),
 * deliver its records, wait for more. */
int bpf_ring_open(struct bpf_ring *r, int fd, uint64_t size, struct lp_err *err);
void bpf_ring_close(struct bpf_ring *r);
/* The first part of opening it: everything but the wait. */
int bpf_ring_map(struct bpf_ring *r, int fd, uint64_t size, struct lp_err *err);
/* `*ret_n` is the number of records, including those that were not events. A negative result of the
 * sink ends it and is returned; that record is the first one next time. */
int bpf_ring_drain(struct bpf_ring *r, const struct trace_sink *sink, uint64_t *ret_n);
/* 1: woken; 0: time-out; -EINTR: a signal. */
int bpf_ring_wait(struct bpf_ring *r, int timeout_ms);
/* Make a path from parts in reverse order, each followed by a NUL. Returns its length; 0 if it does
 * not fit. */
size_t bpf_path_join(const char *parts, size_t len, char *ret, size_t size);
/* A record as an event that points into it; false: it is too short for its contents. */
bool bpf_record_decode(const void *record, size_t size, struct trace_event *ret);

/* The pending calls (backend_bpf_pending.c). */
int bpf_pending_list(struct bpf_tracer *t, int64_t at_least_ns, struct lp_err *err);

/* From time to time, remove entries of ended processes from the maps. */
int bpf_sweep(struct bpf_tracer *t, struct lp_err *err);

/* Update `tally` with the kernel's counts. */
int bpf_counts_read(struct bpf_tracer *t, struct tally *tally, struct lp_err *err);
void bpf_counts_free(struct bpf_counts *c);

/* Fill in the table of calls from model/syscalls.h. */
void bpf_calls_fill(struct bpf_settings *s);

#endif
