/* Undoes the effect of attaching on a call.
 *
 * A thread that waits in a call is woken when it is attached to. The kernel repeats most calls
 * automatically. Some (epoll_wait, reads with a time limit) return EINTR instead, which a program
 * without signal handlers does not expect. limpet repeats such a call: it moves the thread back to
 * the instruction that made it.
 */
#include "trace/ptrace_tracer.h"

#include "trace/ptrace_proc.h"
#include <elf.h>
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

#ifdef __x86_64__

#define SYSCALL_INSN 2 /* bytes of `syscall` */

/* Calls that have had no effect when they return EINTR. */
static bool waits_only(long nr)
{
	static const short calls[] = {SYS_epoll_wait, SYS_epoll_pwait, SYS_epoll_pwait2, SYS_semop,
		SYS_semtimedop, SYS_rt_sigtimedwait, SYS_io_getevents, SYS_io_pgetevents, SYS_read,
		SYS_readv, SYS_recvfrom, SYS_recvmsg, SYS_accept, SYS_accept4};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (calls[i] == nr)
			return true;
	}
	return false;
}

void regs_repeat_call(pid_t tid)
{
	struct user_regs_struct regs;
	struct iovec io = {&regs, sizeof(regs)};

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &io) < 0 ||
		io.iov_len != sizeof(regs))
		return; /* gone, or a 32-bit program */
	if ((long)regs.orig_rax < 0 || (long)regs.rax != -EINTR ||
		!waits_only((long)regs.orig_rax) || regs.cs != 0x33)
		return;
	/* A signal is pending, so the call must return EINTR. */
	if (proc_has_signal(tid))
		return;
	regs.rax = regs.orig_rax;
	regs.orig_rax = (unsigned long long)-1;
	regs.rip -= SYSCALL_INSN;
	ptrace(PTRACE_SETREGSET, tid, (void *)NT_PRSTATUS, &io);
}

#else

void regs_repeat_call(pid_t tid)
{
	(void)tid;
}

#endif
