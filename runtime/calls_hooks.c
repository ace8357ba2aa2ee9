/* The two functions that the compiler calls at the beginning and at the end of every other one.
 * They are in each image that counts, for its own functions, and in liblimpet-calls, for images
 * that were linked without `limpet cc`. */
#include "runtime/calls_hooks.h"

#if defined(CALLS_IN_IMAGE)
/* Weak: a program may have its own. */
#define CYG __attribute__((weak, visibility("hidden"), no_instrument_function))
#else
#define CYG HOOK
#endif

CYG void __cyg_profile_func_enter(void *function, void *site);
CYG void __cyg_profile_func_exit(void *function, void *site);

void __cyg_profile_func_enter(void *function, void *site)
{
	uint32_t id = calls_known(limpet_calls_map_1, (uintptr_t)function);

	if (!id || !limpet_calls_off_1[id - 1])
		limpet_calls_enter_1((uintptr_t)function, (uintptr_t)site, calls_hook_sp(), id);
}

/* A function that was switched off since it began still has to end. Functions that choose another
 * one when the program is loaded (ifunc) run before there are variables of threads. */
void __cyg_profile_func_exit(void *function, void *site)
{
	const struct call_frame *top = limpet_calls_thread_1.top;
	uint32_t id;

	if (UNLIKELY(!top))
		return;
	if (top->function != (uintptr_t)function) {
		id = calls_known(limpet_calls_map_1, (uintptr_t)function);
		if (id && limpet_calls_off_1[id - 1])
			return;
	}
	limpet_calls_exit_1((uintptr_t)function, (uintptr_t)site, calls_hook_sp());
}
