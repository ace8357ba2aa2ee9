/* The code in every instrumented function: find its number, and check whether it is switched off.
 * It is compiled into each executable and shared library that counts, so that a function that is
 * off needs no call of another library. The rest is in liblimpet-calls.
 *
 * Programs are built once and run for years, with later versions of liblimpet-calls. So the
 * contents of this file, and the names that end in _1, must not change; another layout needs new
 * names.
 */
#ifndef RUNTIME_CALLS_HOOKS_H
#define RUNTIME_CALLS_HOOKS_H

#include "runtime/calls_table.h"

#include <stdbool.h>
#include <stddef.h>

#define SHARED __attribute__((visibility("default")))
#define HOOK __attribute__((visibility("default"), no_instrument_function))
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

enum { MAP_SLOTS = 4 * CALLS_MAX_FUNCTIONS };

/* The number of a function. Only this process uses it, so it is not in the table. */
struct calls_slot {
	uintptr_t function; /* 0: free; CALLS_FORGOTTEN: no longer used */
	uint32_t id;	    /* its number plus 1; 0: not yet, CALLS_UNCOUNTED: it has none */
};
#define CALLS_FORGOTTEN 1
#define CALLS_UNCOUNTED UINT32_MAX

/* Neighbours in the program are neighbours in the map, so the active functions are on few of its
 * pages. */
static inline uint32_t calls_hash(uintptr_t function)
{
	return (uint32_t)((function >> 4) ^ (function >> 20)) % MAP_SLOTS;
}

/* The number of a function plus 1; 0: it has none, or it is not in its first slot. */
static inline uint32_t calls_known(const struct calls_slot *map, uintptr_t function)
{
	const struct calls_slot *slot = &map[calls_hash(function)];
	uint32_t id = slot->id;

	if (UNLIKELY(slot->function != function) || UNLIKELY(id - 1 >= CALLS_MAX_FUNCTIONS))
		return 0;
	return id;
}

/* Stacks of different threads and coroutines are further apart than this. */
#define CALLS_SAME_STACK (1U << 20)

/* A function that was entered. */
struct call_frame {
	uintptr_t function, site;
	uintptr_t sp; /* of the hook, which is below the frame of the function */
	uint64_t begin, children;
	uint32_t id;
};

/* The current thread, and its row of the table. All 0: it has none.
 *
 * Below the frames of its functions there is one without a function and, if there are MAX_DEPTH
 * frames, another one above them. So hooks need not check whether there is a frame. */
struct thread {
	struct call_frame *top;	    /* of the last function that was entered */
	struct call_frame *deepest; /* of MAX_DEPTH */
	struct calls_counter *counters;
	struct call_frame *frames;
	uint32_t ready;	 /* this many counters can be written without reserving memory */
	uint32_t beyond; /* the number of calls beyond MAX_DEPTH */
	uint32_t row;
};

/* The stack pointer in a hook, which is below the frame of its function. The compiler's builtin for
 * it would need a frame. */
static inline uintptr_t calls_hook_sp(void)
{
#if defined(__x86_64__)
	uintptr_t sp;

	__asm__ volatile("mov %%rsp, %0" : "=r"(sp));
	return sp;
#else
	return (uintptr_t)__builtin_frame_address(0);
#endif
}

/* The stack pointer that the hooks of the caller of this function have. */
static inline __attribute__((always_inline)) uintptr_t calls_callers_sp(void)
{
#if defined(__x86_64__)
	return (uintptr_t)__builtin_frame_address(0) + sizeof(void *);
#else
	return (uintptr_t)__builtin_frame_address(0);
#endif
}

/* The numbers of functions. */
extern SHARED struct calls_slot limpet_calls_map_1[MAP_SLOTS];
/* The switches; if calls are no longer counted, another array in which all are off. */
extern SHARED const uint8_t *limpet_calls_off_1;
/* Only its first member, and the first member of that, are public. */
extern SHARED _Thread_local struct thread limpet_calls_thread_1
	__attribute__((tls_model("initial-exec")));

/* The beginning or end of a function that is unknown (`id` 0) or counted. */
HOOK void limpet_calls_enter_1(uintptr_t function, uintptr_t site, uintptr_t sp, uint32_t id);
HOOK void limpet_calls_exit_1(uintptr_t function, uintptr_t site, uintptr_t sp);
/* A function continues whose hooks have this stack pointer: those that it called, and those that
 * they called, have ended. */
HOOK void limpet_calls_left_1(uintptr_t sp);

#endif
