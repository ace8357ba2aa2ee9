/* longjmp() and its other names. */
#include "runtime/calls_left.h"

#include <setjmp.h>
#include <signal.h>

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__LP64__)
/* The stack pointer of the function that called setjmp(), as its hooks would see it. The C library
 * keeps it in the seventh word, mixed with a secret of the process. */
static uintptr_t target_sp(const struct __jmp_buf_tag *buf)
{
	uintptr_t sp = (uintptr_t)buf->__jmpbuf[6], secret;

	__asm__("mov %%fs:0x30, %0" : "=r"(secret));
	return ((sp >> 17 | sp << 47) ^ secret) - sizeof(void *);
}
#else
static uintptr_t target_sp(const struct __jmp_buf_tag *buf)
{
	(void)buf;
	return 0;
}
#endif

/* A signal handler on a separate stack is left for the stack that it interrupted. */
static void leave_signal_stack(uintptr_t sp)
{
	stack_t alone;
	uintptr_t begin;

	if (sigaltstack(NULL, &alone) < 0 || !(alone.ss_flags & SS_ONSTACK))
		return;
	begin = (uintptr_t)alone.ss_sp;
	if (sp - begin >= alone.ss_size)
		limpet_calls_left_1(begin + alone.ss_size);
}

static void leave(const struct __jmp_buf_tag *buf)
{
	uintptr_t sp = target_sp(buf);

	if (!sp)
		return;
	if (sp - calls_hook_sp() >= CALLS_SAME_STACK)
		leave_signal_stack(sp);
	limpet_calls_left_1(sp);
}

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker's names */
#define JUMP(name)                                                                                 \
	_Noreturn void __real_##name(struct __jmp_buf_tag *buf, int value);                        \
	_Noreturn WRAPPED void __wrap_##name(struct __jmp_buf_tag *buf, int value);                \
	void __wrap_##name(struct __jmp_buf_tag *buf, int value)                                   \
	{                                                                                          \
		leave(buf);                                                                        \
		__real_##name(buf, value);                                                         \
	}

JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
#if defined(__GLIBC__)
JUMP(__longjmp_chk)
#endif
/* NOLINTEND(bugprone-reserved-identifier) */
