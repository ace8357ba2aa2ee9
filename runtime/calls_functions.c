/* Numbers for functions. Two threads may call a function for the first time at the same moment: one
 * assigns a number, and the other waits for it. A signal handler may interrupt the assignment in
 * the same thread. Then waiting would not help, and that call is not counted. */
#include "runtime/calls.h"

#include <errno.h>
#include <time.h>

/* Assigning a number takes microseconds, unless the machine is busy. A wait ends after some seconds
 * at most. */
#define WAITS_MAX 20000

struct calls_slot limpet_calls_map_1[MAP_SLOTS];
static _Thread_local bool giving __attribute__((tls_model("initial-exec")));
static uint32_t n_giving; /* threads that assign one */

/* Assign a new number, with a row for the function in the table. */
static bool number(uintptr_t function, uint32_t *ret)
{
	struct calls_header *header = &calls_table->header;
	uint32_t id = __atomic_load_n(&header->n_functions, __ATOMIC_RELAXED);

	do {
		if (id >= CALLS_MAX_FUNCTIONS)
			return false;
	} while (!__atomic_compare_exchange_n(
		&header->n_functions, &id, id + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	*ret = id;
	if (!calls_reserve(&calls_table->functions[id], sizeof(calls_table->functions[id])) ||
		!calls_reserve(&calls_table->off[id], 1))
		return false;
	calls_table->functions[id].module = calls_module_find(function);
	calls_table->off[id] = calls_starts_off(function);
	__atomic_store_n(&calls_table->functions[id].address, function, __ATOMIC_RELEASE);
	return true;
}

/* The slot of a function, or a free one that it takes; NULL: no room. */
static struct calls_slot *slot_of(uintptr_t function, bool *ret_new)
{
	uint32_t at = calls_hash(function);

	*ret_new = false;
	for (uint32_t i = 0; i < MAP_SLOTS; i++, at = (at + 1) % MAP_SLOTS) {
		struct calls_slot *slot = &limpet_calls_map_1[at];
		uintptr_t there = __atomic_load_n(&slot->function, __ATOMIC_RELAXED);

		if (there == 0 && calls_table->header.n_functions >= CALLS_MAX_FUNCTIONS)
			return NULL;
		if (there == 0)
			*ret_new = __atomic_compare_exchange_n(&slot->function, &there, function,
				false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		if (*ret_new || there == function)
			return slot;
	}
	return NULL;
}

/* The number that another thread assigns to a function, plus 1. If the wait fails, the slot is
 * marked, so that no other thread waits. */
static uint32_t wait_for(struct calls_slot *slot)
{
	uint32_t id = __atomic_load_n(&slot->id, __ATOMIC_ACQUIRE);
	int saved_errno = errno;

	for (int i = 0; !id && !giving && i < WAITS_MAX; i++) {
		nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
		id = __atomic_load_n(&slot->id, __ATOMIC_ACQUIRE);
	}
	if (!id && !giving)
		__atomic_compare_exchange_n(
			&slot->id, &id, CALLS_UNCOUNTED, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE);
	errno = saved_errno;
	return id;
}

/* Assign a number if it has none. */
static bool add(uintptr_t function, uint32_t *ret)
{
	bool before = giving, is_new, given;
	struct calls_slot *slot;
	uint32_t id = 0;

	giving = true;
	__atomic_fetch_add(&n_giving, 1, __ATOMIC_RELAXED);
	slot = slot_of(function, &is_new);
	given = slot && is_new && number(function, &id);
	if (slot && is_new)
		__atomic_store_n(&slot->id, given ? id + 1 : CALLS_UNCOUNTED, __ATOMIC_RELEASE);
	__atomic_fetch_sub(&n_giving, 1, __ATOMIC_RELAXED);
	giving = before;
	if (slot && !is_new) {
		id = wait_for(slot) - 1;
		given = id < CALLS_MAX_FUNCTIONS;
	}
	if (!given)
		__atomic_fetch_add(&calls_table->header.lost_functions, 1, __ATOMIC_RELAXED);
	*ret = id;
	return given;
}

bool calls_find(uintptr_t function, uint32_t *ret)
{
	uint32_t at = calls_hash(function);

	for (uint32_t i = 0; i < MAP_SLOTS; i++, at = (at + 1) % MAP_SLOTS) {
		const struct calls_slot *slot = &limpet_calls_map_1[at];
		uintptr_t there = __atomic_load_n(&slot->function, __ATOMIC_RELAXED);
		uint32_t id = __atomic_load_n(&slot->id, __ATOMIC_ACQUIRE);

		if (there == function && id - 1 < CALLS_MAX_FUNCTIONS) {
			*ret = id - 1;
			return true;
		}
		if (there == function || there == 0)
			break;
	}
	return add(function, ret);
}

/* Otherwise the child would wait for numbers that no thread assigns. */
void calls_functions_after_fork(void)
{
	if (giving || !n_giving)
		return;
	n_giving = 0;
	for (uint32_t i = 0; i < MAP_SLOTS; i++) {
		if (limpet_calls_map_1[i].function && !limpet_calls_map_1[i].id)
			limpet_calls_map_1[i].function = CALLS_FORGOTTEN;
	}
}

void calls_forget(uintptr_t begin, uintptr_t end)
{
	for (uint32_t i = 0; i < MAP_SLOTS; i++) {
		if (limpet_calls_map_1[i].function >= begin && limpet_calls_map_1[i].function < end)
			__atomic_store_n(
				&limpet_calls_map_1[i].function, CALLS_FORGOTTEN, __ATOMIC_RELAXED);
	}
}
