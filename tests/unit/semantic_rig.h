/* Hand-made logs of system calls: observers, processes, connections, calls. Times are seconds after
 * RIG_T0; events and descriptors may be added in any order, and semantic_run() feeds them to the
 * traces in the order of time. */
#ifndef SEMANTIC_RIG_H
#define SEMANTIC_RIG_H

#include "unit.h"

#include "explain/semantic.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RIG_T0 INT64_C(1800000000)
#define RIG_EVENTS_MAX 4096

struct rig_event {
	const char *host;
	struct trace_event e;
};

struct rig_descriptor {
	const char *host;
	struct trace_descriptor d;
};

struct semantic_rig {
	struct traces t;
	struct hosts hosts;
	struct semantic_options o;
	struct semantic s;
	struct rig_event events[RIG_EVENTS_MAX];
	size_t n_events;
	struct rig_descriptor descriptors[64];
	size_t n_descriptors;
};

static inline int64_t rig_ns(double s)
{
	return RIG_T0 * NS_PER_SEC + (int64_t)(s * 1e9 + (s < 0 ? -0.5 : 0.5));
}

static inline void semantic_init(struct semantic_rig *r)
{
	memset(r, 0, sizeof(*r));
	r->o.hang_after_us = SEMANTIC_HANG_US;
	r->o.error_window_us = SEMANTIC_WINDOW_US;
	r->t.hang_ns = SEMANTIC_HANG_US * 1000;
	r->t.addresses = &r->hosts;
}

static inline void semantic_rig_release(struct semantic_rig *r)
{
	semantic_release(&r->s);
	traces_release(&r->t);
	hosts_release(&r->hosts);
}

static inline uint32_t rig_host(struct semantic_rig *r, const char *name)
{
	uint32_t host;

	assert_int_equal(traces_host(&r->t, name, &host), 0);
	return host;
}

/* An observer with an archive and an address. */
static inline void rig_observer(struct semantic_rig *r, const char *name, const char *address)
{
	uint32_t host = rig_host(r, name);

	assert_int_equal(hosts_add(&r->hosts, name, address), 0);
	r->t.hosts[host].first_us = RIG_T0 * 1000000;
	r->t.hosts[host].last_us = (RIG_T0 + 120) * 1000000;
}

/* A process that is traced; a server if `serves`. */
static inline void rig_process(
	struct semantic_rig *r, const char *host, int pid, const char *comm, bool serves)
{
	uint32_t h = rig_host(r, host), program;

	r->t.hosts[h].traced = true;
	assert_int_equal(traces_name_process(&r->t, h, pid, comm), 0);
	assert_int_equal(traces_program(&r->t, h, comm, &program), 0);
	r->t.programs[program].seen.serves |= serves;
}

/* A sample of the connection of `host` to a server. */
static inline void rig_sample(struct semantic_rig *r, const char *host, const char *peer, double at,
	int64_t requests, int64_t responses, double waiting)
{
	uint32_t number;

	assert_int_equal(traces_peer(&r->t, rig_host(r, host), peer, &number), 0);
	assert_int_equal(traces_add_sample(&r->t, number, rig_ns(at) / 1000, requests, responses,
				 (int64_t)(waiting * 1e6)),
		0);
}

/* A sample of a row `errno`. */
static inline void rig_tally(
	struct semantic_rig *r, const char *host, const char *name, double at, int64_t value)
{
	assert_int_equal(
		traces_add_tally(&r->t, rig_host(r, host), name, rig_ns(at) / 1000, value), 0);
}

/* A server that answers every second from `from` to `to`. */
static inline void rig_answers(
	struct semantic_rig *r, const char *host, const char *peer, int from, int to)
{
	for (int i = from; i <= to; i++)
		rig_sample(r, host, peer, i, 10 * (i + 1), 10 * (i + 1), 0);
}

/* One that has not answered since `from`, up to `to`. */
static inline void rig_silent(
	struct semantic_rig *r, const char *host, const char *peer, int from, int to)
{
	for (int i = from + 1; i <= to; i++)
		rig_sample(r, host, peer, i, 10 * (from + 1) + 1, 10 * (from + 1), i - from);
}

static inline struct trace_event *rig_add(
	struct semantic_rig *r, const char *host, int pid, unsigned what, double at)
{
	struct rig_event *e = &r->events[r->n_events++];

	assert_true(r->n_events < RIG_EVENTS_MAX);
	e->host = host;
	e->e = (struct trace_event){.seq = r->n_events,
		.start_ns = rig_ns(at),
		.pid = pid,
		.tid = pid,
		.what = (uint8_t)what};
	return &e->e;
}

/* A call that returns `ret` at the time `at`, on a descriptor (or -1). */
static inline struct trace_event *rig_call(struct semantic_rig *r, const char *host, int pid,
	double at, const char *call, int fd, uint8_t file, int64_t ret)
{
	struct trace_event *e = rig_add(r, host, pid, TRACE_CALL, at);
	int nr = syscall_number(call);

	assert_true(nr >= 0);
	e->nr = (uint16_t)nr;
	e->file = file;
	e->ret = ret;
	if (fd >= 0)
		e->args[0] = (uint64_t)fd;
	return e;
}

/* The same for a path. */
static inline struct trace_event *rig_path(struct semantic_rig *r, const char *host, int pid,
	double at, const char *call, const char *path, int64_t ret)
{
	struct trace_event *e = rig_call(r, host, pid, at, call, -1, TRACE_FILE_NONE, ret);

	e->args[0] = (uint64_t)-100;
	e->text = path;
	e->text_len = (uint32_t)strlen(path);
	return e;
}

/* A call on a file that began at `from` and took `s` seconds; `pending`: it has not returned. */
static inline struct trace_event *rig_slow(struct semantic_rig *r, const char *host, int pid,
	double from, double s, const char *call, int fd, uint8_t file, bool pending)
{
	struct trace_event *e = rig_call(r, host, pid, from, call, fd, file, 0);

	e->dur_ns = (int64_t)(s * 1e9 + 0.5);
	e->ret = pending ? 0 : 100;
	e->what = pending ? TRACE_PENDING : TRACE_CALL;
	return e;
}

static inline void rig_signal(struct semantic_rig *r, const char *host, int pid, double at, int nr)
{
	rig_add(r, host, pid, TRACE_SIGNAL, at)->nr = (uint16_t)nr;
}

/* The end of a process: by a signal (status < 128), or with exit(status >> 8). */
static inline void rig_exit(
	struct semantic_rig *r, const char *host, int pid, double at, int status)
{
	struct trace_event *e = rig_add(r, host, pid, TRACE_EXIT, at);

	e->ret = status;
	e->nr = (uint16_t)(status & 0x7f);
}

static inline void rig_descriptor(struct semantic_rig *r, const char *host, int pid, int fd,
	double at, unsigned change, uint8_t file, const char *name)
{
	struct rig_descriptor *d = &r->descriptors[r->n_descriptors++];

	assert_true(r->n_descriptors <= 64);
	d->host = host;
	d->d = (struct trace_descriptor){.time_ns = rig_ns(at),
		.pid = pid,
		.fd = fd,
		.change = (uint8_t)change,
		.file = file,
		.name = name};
}

/* The next item: the earliest that was not fed yet, descriptors before events. */
static inline bool rig_next(struct semantic_rig *r, bool *done_events, bool *done_descriptors)
{
	const struct rig_event *e = NULL;
	const struct rig_descriptor *d = NULL;

	for (size_t i = 0; i < r->n_events; i++) {
		const struct rig_event *own = &r->events[i];

		if (!done_events[i] &&
			(!e || own->e.start_ns + own->e.dur_ns < e->e.start_ns + e->e.dur_ns))
			e = own;
	}
	for (size_t i = 0; i < r->n_descriptors; i++) {
		if (!done_descriptors[i] && (!d || r->descriptors[i].d.time_ns < d->d.time_ns))
			d = &r->descriptors[i];
	}
	if (d && (!e || d->d.time_ns <= e->e.start_ns + e->e.dur_ns)) {
		done_descriptors[d - r->descriptors] = true;
		assert_int_equal(traces_add_descriptor(&r->t, rig_host(r, d->host), &d->d), 0);
	} else if (e) {
		done_events[e - r->events] = true;
		assert_int_equal(traces_add_event(&r->t, rig_host(r, e->host), &e->e), 0);
	}
	return d || e;
}

/* Feed everything, and judge it. */
static inline void semantic_run(struct semantic_rig *r)
{
	bool done_events[RIG_EVENTS_MAX] = {0}, done_descriptors[64] = {0};

	while (rig_next(r, done_events, done_descriptors)) {
	}
	assert_int_equal(traces_know(&r->t), 0);
	assert_int_equal(semantic_judge(&r->t, &r->o, &r->s), 0);
}

/* The only finding. */
static inline const struct semantic_finding *rig_only(const struct semantic_rig *r)
{
	if (r->s.n != 1)
		fail_msg("%u findings", r->s.n);
	assert_non_null(r->s.findings[0].advice);
	assert_true(r->s.findings[0].n_evidence > 0);
	assert_true(r->s.findings[0].confidence > 0.3 && r->s.findings[0].confidence <= 1);
	assert_true(r->s.findings[0].first_us <= r->s.findings[0].last_us);
	return &r->s.findings[0];
}

static inline bool rig_has(char *const *texts, uint32_t n, const char *part)
{
	for (uint32_t i = 0; i < n; i++) {
		if (strstr(texts[i], part))
			return true;
	}
	return false;
}

static inline void rig_expect(
	const struct semantic_finding *f, const char *component, const char *cause)
{
	assert_string_equal(f->component->text, component);
	assert_string_equal(f->cause, cause);
}

static inline void rig_tells(const struct semantic_finding *f, const char *part)
{
	if (!rig_has(f->evidence, f->n_evidence, part))
		fail_msg("nothing says '%s'; the first is '%s'", part, f->evidence[0]);
}

static inline void rig_notes(const struct semantic_rig *r, const char *part)
{
	if (!rig_has(r->s.notes, r->s.n_notes, part))
		fail_msg("no note says '%s' (%u notes)", part, r->s.n_notes);
}

/* Three servers s1 .. s3 of a file system and two clients c1, c2, each with a daemon that has
 * connections to all servers, and an application. All servers answer for two minutes. */
#define RIG_PORT "24007"

static inline void rig_cluster_quiet(struct semantic_rig *r)
{
	static const char *const servers[] = {"s1", "s2", "s3"}, *const clients[] = {"c1", "c2"};
	char address[32];

	semantic_init(r);
	for (int i = 0; i < 3; i++) {
		snprintf(address, sizeof(address), "10.0.0.%d", i + 1);
		rig_observer(r, servers[i], address);
		rig_process(r, servers[i], 800 + i, "glusterfsd", true);
	}
	for (int i = 0; i < 2; i++) {
		snprintf(address, sizeof(address), "10.0.1.%d", i + 1);
		rig_observer(r, clients[i], address);
		rig_process(r, clients[i], 500, "glusterfs", false);
		rig_process(r, clients[i], 900, "dd", false);
	}
}

static inline void rig_cluster(struct semantic_rig *r)
{
	rig_cluster_quiet(r);
	for (int s = 1; s <= 3; s++) {
		char peer[32];

		snprintf(peer, sizeof(peer), "10.0.0.%d:" RIG_PORT, s);
		rig_answers(r, "c1", peer, 0, 120);
		rig_answers(r, "c2", peer, 0, 120);
	}
}

#endif
