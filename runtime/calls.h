/* The internal interface of liblimpet-calls.
 *
 * This code runs inside other programs, in each of their functions: signal handlers, constructors,
 * children of fork(). It needs only libc, allocates only by mmap(), never changes errno, and stops
 * counting if it cannot continue.
 */
#ifndef RUNTIME_CALLS_H
#define RUNTIME_CALLS_H

#include "runtime/calls_hooks.h"

#include <stdbool.h>
#include <stddef.h>

enum { MAX_DEPTH = 16384 };

/* All internal symbols are accessed directly, not through the table for symbols that other
 * libraries may replace: that saves a load in every hook. */
#pragma GCC visibility push(hidden)

/* The table of this process; NULL: calls are not counted. Its address stays the same in children.
 */
extern struct calls_table *calls_table;
extern bool calls_use_tsc;

/* Create the table, if it does not exist yet. */
void calls_start(void);
/* The program ends, so unloaded libraries are not replaced by others. */
bool calls_at_exit(void);

/* Make sure that this part of the table can be written. On a full file system the first access
 * would kill the program. */
bool calls_reserve(const void *start, size_t size);

/* The number of any function; false: it cannot be counted. */
bool calls_find(uintptr_t function, uint32_t *ret);

/* In the child of a fork(): no thread finishes the work that other threads began. */
void calls_functions_after_fork(void);

/* Forget the functions in a range of memory, which are unloaded. */
void calls_forget(uintptr_t begin, uintptr_t end);
/* The module with this address, or CALLS_NO_MODULE. */
uint16_t calls_module_of(uintptr_t address);
/* The same for an unknown module. */
uint16_t calls_module_find(uintptr_t address);

/* Switch off the functions of a module that are in a list: in its own one (`list_size` 0: none), or
 * in that of the environment. Call this before any of its functions runs. */
void calls_switch_off(const struct calls_module *m, const char *list, size_t list_size);
/* The functions in this range are unloaded. */
void calls_switch_forget(uintptr_t begin, uintptr_t end);
/* Is a function that was not called yet initially off? */
bool calls_starts_off(uintptr_t function);

/* Take a row for the current thread; false: there are none left. */
bool calls_attach(struct thread *t);
/* Mark that the thread is in no function. */
void calls_frames_clear(struct thread *t);
/* The current thread returned its row. */
void calls_detached(void);
/* In the child of a fork(): only the thread that called it continues. */
void calls_keep_thread(void);
/* The current functions of the calling thread will not return: count them. */
void calls_unwind(void);
/* Called once, at the start. */
bool calls_prepare_threads(void);

uint64_t calls_now(void);

#pragma GCC visibility pop

#endif
