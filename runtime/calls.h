/* Inside liblimpet-calls: what its files share.
 *
 * This runs in other people's programs, in every function of theirs: signal handlers, constructors,
 * children of fork(). It needs only libc, allocates nothing but by mmap(), never changes errno, and
 * stops counting where it cannot go on.
 */
#ifndef RUNTIME_CALLS_H
#define RUNTIME_CALLS_H

#include "runtime/calls_table.h"

#include <stdbool.h>
#include <stddef.h>

#define HOOK __attribute__((visibility("default"), no_instrument_function))
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

enum { MAX_DEPTH = 16384, MAP_SLOTS = 4 * CALLS_MAX_FUNCTIONS };

/* A function that was entered. */
struct call_frame {
	uintptr_t function, site;
	uintptr_t sp; /* of the hook, which is below everything of the function */
	uint64_t begin, children;
	uint32_t id;
};

/* A row of the table and the thread that has it. */
struct thread {
	struct call_frame *frames; /* MAX_DEPTH; the row's for good */
	struct calls_counter *counters;
	uint32_t depth;
	uint32_t beyond; /* calls below MAX_DEPTH, of which only the number is counted */
	uint32_t ready;	 /* so many counters can be written without asking for memory */
	uint32_t row;
};

/* The table of this process; NULL: calls are not counted. Its address stays the same in children.
 */
extern struct calls_table *calls_table;
/* Its switches; where calls are not counted any more, of others that are all off. */
extern const uint8_t *calls_off;
extern bool calls_use_tsc;

/* Make the table, if that was not done yet. */
void calls_start(void);
/* The program ends: libraries that are unloaded now are not replaced by others. */
bool calls_at_exit(void);

/* See that this part of the table can be written. A file system that is full would otherwise kill
 * the program at the first touch. */
bool calls_reserve(const void *start, size_t size);

/* Which number a function has. Only this process has use for it, so it is not in the table. */
struct calls_slot {
	uintptr_t function; /* 0: free, CALLS_FORGOTTEN: not any more */
	uint32_t id;	    /* its number plus 1; 0: not yet, CALLS_UNCOUNTED: it has none */
};
#define CALLS_FORGOTTEN 1
#define CALLS_UNCOUNTED UINT32_MAX
extern struct calls_slot calls_map[MAP_SLOTS];

static inline uint32_t calls_hash(uintptr_t function)
{
	return (uint32_t)(function * 0x9e3779b97f4a7c15ULL >> 48);
}
_Static_assert(MAP_SLOTS == 1 << 16, "the hash has as many bits");

/* The number of a function that may not have one yet; false: it cannot be counted now. */
bool calls_add(uintptr_t function, uint32_t *ret);

/* The number of a function plus 1; 0: it has none, or it is not where it is looked for first. */
static inline uint32_t calls_known(uintptr_t function)
{
	const struct calls_slot *slot = &calls_map[calls_hash(function)];
	uint32_t id = slot->id;

	return slot->function == function && id <= CALLS_MAX_FUNCTIONS ? id : 0;
}

static inline bool calls_find(uintptr_t function, uint32_t *ret)
{
	uint32_t known = calls_known(function);

	if (UNLIKELY(!known))
		return calls_add(function, ret);
	*ret = known - 1;
	return true;
}

/* Forget the functions in a part of memory, which are unloaded. */
void calls_forget(uintptr_t begin, uintptr_t end);
/* The module with this address, or CALLS_NO_MODULE. */
uint16_t calls_module_of(uintptr_t address);
/* The same of one that was not known yet. */
uint16_t calls_module_find(uintptr_t address);

/* Switch off the functions of a module that lists say so of: one of its own (`list_size` 0: none),
 * and the one of the environment. Before any of them is called. */
void calls_switch_off(const struct calls_module *m, const char *list, size_t list_size);
/* Its functions are unloaded. */
void calls_switch_forget(uintptr_t begin, uintptr_t end);
/* Does a function that was not called yet begin switched off? */
bool calls_starts_off(uintptr_t function);

/* A row for the thread that runs, or NULL where there is none left. */
struct thread *calls_attach(void);
/* The thread that runs gave its row back. */
void calls_detached(void);
/* In the child of a fork(): only the thread that called it goes on. */
void calls_keep_thread(void);
/* The functions that the calling thread is in will not return: count them. */
void calls_unwind(void);
/* Once, at the start. */
bool calls_prepare_threads(void);

uint64_t calls_now(void);

#endif
