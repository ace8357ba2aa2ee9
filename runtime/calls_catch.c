/* Catching an exception. gcc ends functions that an exception leaves, clang does not. */
#include "runtime/calls_left.h"

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker's names */
void *__real___cxa_begin_catch(void *exception);
WRAPPED void *__wrap___cxa_begin_catch(void *exception);

/* Called by the function that continues. */
void *__wrap___cxa_begin_catch(void *exception)
{
	limpet_calls_left_1(calls_callers_sp());
	return __real___cxa_begin_catch(exception);
}
/* NOLINTEND(bugprone-reserved-identifier) */
