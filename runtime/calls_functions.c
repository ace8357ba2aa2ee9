/* Numbers for functions. Handlers of signals may call this while it is at work in the same thread,
 * so nobody ever waits: a function whose number is just being given is not counted that time. */
#include "runtime/calls.h"

struct calls_slot calls_map[MAP_SLOTS];

/* A new number, with the function's row in the table. */
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
	calls_table->functions[id].module = calls_module_of(function);
	__atomic_store_n(&calls_table->functions[id].address, function, __ATOMIC_RELEASE);
	return true;
}

static void lose(void)
{
	__atomic_fetch_add(&calls_table->header.lost_functions, 1, __ATOMIC_RELAXED);
}

bool calls_add(uintptr_t function, uint32_t *ret)
{
	uint32_t at = calls_hash(function), id;

	for (uint32_t i = 0; i < MAP_SLOTS; i++, at = (at + 1) % MAP_SLOTS) {
		struct calls_slot *slot = &calls_map[at];
		uintptr_t there = __atomic_load_n(&slot->function, __ATOMIC_RELAXED);

		if (there == 0) {
			if (calls_table->header.n_functions >= CALLS_MAX_FUNCTIONS)
				break;
			if (__atomic_compare_exchange_n(&slot->function, &there, function, false,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
				if (!number(function, &id))
					break;
				__atomic_store_n(&slot->id, id + 1, __ATOMIC_RELEASE);
				*ret = id;
				return true;
			}
		}
		if (there == function) {
			id = __atomic_load_n(&slot->id, __ATOMIC_ACQUIRE);
			*ret = id - 1;
			return id > 0;
		}
	}
	lose();
	return false;
}

void calls_forget(uintptr_t begin, uintptr_t end)
{
	for (uint32_t i = 0; i < MAP_SLOTS; i++) {
		if (calls_map[i].function >= begin && calls_map[i].function < end)
			__atomic_store_n(&calls_map[i].function, CALLS_FORGOTTEN, __ATOMIC_RELAXED);
	}
}
