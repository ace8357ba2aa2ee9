/* The programs in the kernel that follow I/O below the C library (bpf/stack.bpf.c): loading those
 * that the chosen layers need, selecting the processes to watch, and reading the events. Nothing
 * outlives this process: programs, maps and links are its descriptors. */
#ifndef TRACE_KERNEL_WATCH_H
#define TRACE_KERNEL_WATCH_H

#include "trace/bpf/stack.h"

#include <limpet/err.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct kernel_watch;

/* Load the programs that the layers in `mask` (1 << place in layers[]) need, with a ring of this
 * many bytes (0: 16 MiB). `own`: of disks, only requests of watched processes and of files that
 * they wrote to. Nothing runs yet. -EPERM, -EOPNOTSUPP: this kernel or user cannot; the error says
 * why. */
int kernel_watch_open(uint32_t mask, bool own, uint64_t ring_bytes, struct kernel_watch **ret,
	struct lp_err *err);
void kernel_watch_close(struct kernel_watch *w);

/* Attach the programs. */
int kernel_watch_attach(struct kernel_watch *w, struct lp_err *err);

/* Watch a process: STACK_ROLE_*. */
int kernel_watch_process(struct kernel_watch *w, pid_t pid, uint32_t role, struct lp_err *err);

/* Watch the FUSE file systems that the watched daemons serve: after adding processes. */
int kernel_watch_find_fuse(struct kernel_watch *w, struct lp_err *err);

/* Watch a disk, by its number as the kernel has it (major << 20 | minor). */
int kernel_watch_disk(struct kernel_watch *w, uint32_t device, struct lp_err *err);

/* Readable when many events are waiting. */
int kernel_watch_descriptor(const struct kernel_watch *w);

/* Pass on the events that have arrived. Stops when `fn` returns a negative number, and returns it.
 */
int kernel_watch_drain(
	struct kernel_watch *w, int (*fn)(void *ctx, const void *event, size_t size), void *ctx);

/* At the end: pass on the operations that have begun and not ended. */
int kernel_watch_open_ends(
	struct kernel_watch *w, int (*fn)(void *ctx, const void *event, size_t size), void *ctx);

/* The counts so far. */
struct stack_shared kernel_watch_counts(const struct kernel_watch *w);

/* The names of the tracepoints that the layers in `mask` need, NULL-terminated; for the plan. */
#define KERNEL_WATCH_POINTS_MAX 16
size_t kernel_watch_points(uint32_t mask, const char *ret[KERNEL_WATCH_POINTS_MAX]);

#endif
