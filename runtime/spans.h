/* The internal interface of liblimpet-stack, and of the libraries for other layers.
 *
 * This code runs inside other programs, around their calls. It needs only libc, allocates only by
 * mmap(), never changes errno or any result, and stops recording if it cannot continue. It keeps no
 * data that the program reads or writes.
 */
#ifndef RUNTIME_SPANS_H
#define RUNTIME_SPANS_H

#include "runtime/spans_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SPANS_EXPORT __attribute__((visibility("default")))

/* The operations are those of enum span_op, src/model/span.h. */
#include "model/span.h"

/* The object of a call. */
struct spans_object {
	uint64_t device, inode;
};

/* Added to an operation: all processes of a communicator do it together. */
#define SPANS_TOGETHER 0x100u
/* ... it is only requested now, and ends later: spans_requested(), spans_finish(). */
#define SPANS_LATER 0x200u

/* A call begins, in a wrapper with its frame at `sp`; NULL: it is not recorded. `op` is an enum
 * span_op, `offset` may be SPAN_NO_OFFSET, `object` NULL. */
SPANS_EXPORT struct spans_record *spans_begin_at(uintptr_t sp, enum spans_layer layer, unsigned op,
	const char *function, int64_t offset, int64_t size, const struct spans_object *object);
#define spans_begin(...) spans_begin_at((uintptr_t)__builtin_frame_address(0), __VA_ARGS__)

/* Does the innermost current call of this thread belong to this layer? */
SPANS_EXPORT bool spans_inside(uintptr_t sp, enum spans_layer layer);

/* A function of a wrapper that calls spans_begin() must be inlined into the wrapper. A separate
 * frame would be below those of later calls, and the call would seem to have been left by
 * longjmp(). */
#define SPANS_INLINE static inline __attribute__((always_inline))

/* It ends; `result` is bytes, 0, or a negative errno. Accepts NULL. Keeps errno. */
SPANS_EXPORT void spans_end(struct spans_record *r, int64_t result);

/* Most calls are not recorded, and a library call right after a system call is expensive. */
#define spans_end(r, result) ((r) ? (spans_end)((r), (result)) : (void)0)

/* The two halves of spans_end(): between them, add facts that are known only after the call. */
SPANS_EXPORT void spans_stop(struct spans_record *r, int64_t result);
SPANS_EXPORT void spans_done(struct spans_record *r);

/* For a call with SPANS_LATER: its request has returned; it has ended, in any thread (before
 * spans_done()); it was not even tried, so that there was no call. */
SPANS_EXPORT void spans_requested(struct spans_record *r);
SPANS_EXPORT void spans_finish(struct spans_record *r, int64_t result);
SPANS_EXPORT void spans_void(struct spans_record *r);

/* There was no room for a call. */
void spans_lost(void);

/* Is anything of this layer recorded? A load and a branch. */
SPANS_EXPORT extern uint32_t spans_active;
static inline bool spans_on(enum spans_layer layer)
{
	return __builtin_expect(__atomic_load_n(&spans_active, __ATOMIC_RELAXED) >> layer & 1, 0);
}

/* Record the name of an object. */
SPANS_EXPORT void spans_name(const struct spans_object *object, const char *name, size_t len);

/* The sums of this process, [SPANS_LAYERS][SPANS_OPS]; NULL: it has none, or records calls. */
SPANS_EXPORT struct spans_sum *spans_sums(void);
/* The sums now include this many ranks. */
SPANS_EXPORT void spans_reduced(uint32_t n_ranks);

/* This process is one of an MPI job. */
SPANS_EXPORT void spans_set_rank(int rank, int n_ranks);

/* The layer was not built for the library that the program has. */
SPANS_EXPORT void spans_unserved(enum spans_layer layer);

/* The program is about to give up system calls, and could be killed for those that this library
 * makes: stop recording. Returns a value for spans_confine_undo(), in case giving them up fails. */
uint32_t spans_confine(void);
void spans_confine_undo(uint32_t before);

/* The program uses io_uring. */
void spans_ring(void);

/* The program exits by itself. */
void spans_ended(void);

/* The object of a descriptor: false if it is neither a regular file nor a disk. (spans_fds.c) */
bool spans_fd(int fd, struct spans_object *ret);
/* The descriptor now has another meaning. */
void spans_fd_forget(int fd);
void spans_fds_forget(unsigned first, unsigned last);

/* Regions that are ranges of the program's addresses. (spans_ranges.c) */
void spans_ranges_start(const char *text);
bool spans_ranges_any(void);
const char *spans_ranges_here(void); /* the one of the caller, or NULL */

/* Functions that a configuration names. (spans_library.c) */
void spans_library_start(const char *text);

/* The next function with this name in the search order of libraries. */
SPANS_EXPORT void *spans_next(const char *name);

#define SPANS_NEXT(function)                                                                       \
	static __typeof__(function) *next;                                                         \
	if (__builtin_expect(!next, 0))                                                            \
	next = (__typeof__(function) *)spans_next(#function)

#endif
