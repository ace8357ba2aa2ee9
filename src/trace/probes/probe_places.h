/* Finds functions to count, in the executables and libraries that a process has mapped, or in the
 * kernel.
 */
#ifndef TRACE_PROBE_PLACES_H
#define TRACE_PROBE_PLACES_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct probe_place {
	char *name;	/* "server:libc.so.6:read": program, image, function */
	char *path;	/* of the file, accessible for this process; NULL: in the kernel */
	char *function; /* of the kernel; NULL: in a file */
	pid_t pid;
	uint64_t offset; /* in the file */
	/* The kernel emulates its first instruction, instead of single-stepping it elsewhere, which
	 * takes twenty times as long. */
	bool cheap;
	/* Its end must not be probed: the kernel replaces the return address there. An exception
	 * that passes it (C++, Rust), or a stack that is moved (Go), would end the program. */
	bool calls_only;
};

/* Zero-initialise it. */
struct probe_places {
	struct probe_place *items;
	size_t n, cap;
	size_t left_out; /* because there was no room */
	size_t calls_only;
};

#define PROBE_PLACES_MAX 2000

void probe_places_release(struct probe_places *p);

/* Add the functions of a process whose name, or IMAGE:NAME, matches one of the patterns; `proc`:
 * where /proc is. If any image of the process may unwind its stack, only calls are to be counted,
 * unless `times` is set. -ESRCH: there is no such process; -ENOEXEC: limpet cannot read symbols. */
int probe_places_find(struct probe_places *p, const char *proc, pid_t pid,
	const char *const *patterns, unsigned n, bool times, struct lp_err *err);

/* The same for functions of the kernel, as `kallsyms` lists them. */
int probe_places_find_kernel(struct probe_places *p, const char *kallsyms,
	const char *const *patterns, unsigned n, struct lp_err *err);

/* The best offset for a probe in a function, and whether it is cheap; `code` is its beginning. */
unsigned probe_place_best(const uint8_t *code, size_t size, bool *ret_cheap);

#endif
