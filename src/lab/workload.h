/* A workload: what all clients do until they are stopped. Each is one file workloads/NAME.sh and
 * its name in meson.build; workloads/library.sh documents the available functions. /bin/sh runs its
 * functions in a client's namespace, with the working directory on the parallel file system (a
 * directory of that client). */
#ifndef LAB_WORKLOAD_H
#define LAB_WORKLOAD_H

#include "lab/lab.h"

struct workload {
	const char *name; /* "ddw" */
	const char *summary;
	const char *needs;  /* programs, separated by blanks; "iozone|fio": one of these */
	const char *script; /* defines pass, and optionally prepare */
};

extern const struct workload *const workloads[]; /* NULL-terminated */
const struct workload *workload_find(const char *name);

/* Are its programs installed? */
int workload_check(const struct workload *w, struct lp_err *err);

/* Run the function `prepare` on all clients at once, and wait for all. This is done only once per
 * lab. If `*stop` (may be NULL) is not 0, everything is stopped: -EINTR.
 */
int workload_prepare(const struct lab *lab, const struct workload *w, const volatile int *stop,
	struct lp_err *err);

/* How to start it. By default a failing command ends it, and it begins immediately. Flags: */
enum {
	WORKLOAD_STUBBORN =
		1, /* it restarts a second later, and notes that in run/NODE-work.failed */
	WORKLOAD_HELD = 1 << 1, /* the processes are started, but wait for workload_release() */
};

/* Start it on all clients (run/NODE-work.pid), or stop it and wait until its processes are gone. */
int workload_start(
	const struct lab *lab, const struct workload *w, unsigned how, struct lp_err *err);
int workload_release(const struct lab *lab, struct lp_err *err);
int workload_stop(const struct lab *lab, struct lp_err *err);

/* -EIO if the workload of a client has ended or failed, with the last line of its log; a workload
 * runs until it is stopped.
 */
int workload_verify(const struct lab *lab, struct lp_err *err);

/* Bytes that all clients have sent and received so far, from the counters of their interfaces. */
int workload_bytes(const struct lab *lab, uint64_t *ret_bytes, struct lp_err *err);

#endif
