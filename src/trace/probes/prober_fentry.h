/* Trampolines at functions of the kernel (fentry and fexit). Unlike a kprobe, each needs separate
 * programs, which the kernel verifies for that function.
 */
#ifndef TRACE_PROBER_FENTRY_H
#define TRACE_PROBER_FENTRY_H

#include <bpf/libbpf.h>
#include <stddef.h>
#include <stdint.h>

/* The maximum number of functions with separate programs; loading this many takes about a
 * second. */
#define FENTRY_MAX 64

/* Load the programs of `image` for one function, which count into the maps of `shared` at `at`.
 * -ENOENT, -ESRCH: the kernel has no types for this function; another errno: it does not support
 * trampolines. */
int fentry_open(const void *image, size_t size, struct bpf_object *shared, uint32_t at,
	const char *function, struct bpf_object **ret);

/* Attach them. On failure nothing is attached. */
int fentry_attach(struct bpf_object *own, struct bpf_link **ret_enter, struct bpf_link **ret_leave);

#endif
