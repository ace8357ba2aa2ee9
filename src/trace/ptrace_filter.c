#include "trace/ptrace_filter.h"

#include "model/syscalls.h"
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#define ARCH 0 /* every call stops in this case */
#endif

bool filter_skips(unsigned nr)
{
	const struct syscall_info *info = syscall_get(nr);

	/* The tracer itself needs these: asynchronous I/O, and sharing of descriptors. */
	if (nr == SYS_io_submit || nr == SYS_io_getevents || nr == SYS_io_pgetevents ||
		nr == SYS_unshare)
		return false;
	return info && info->fd_arg < 0 && info->capture == CAPTURE_NONE &&
		(info->call == TRACE_CALL_OTHER || info->call == TRACE_CALL_WAIT);
}

static void add(struct ptrace_filter *f, struct sock_filter insn)
{
	if (f->n < FILTER_MAX)
		f->code[f->n++] = insn;
}

void filter_make(struct ptrace_filter *ret)
{
	const unsigned trace = SECCOMP_RET_TRACE, allow = SECCOMP_RET_ALLOW;

	ret->n = 0;
	add(ret,
		(struct sock_filter)BPF_STMT(
			BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)));
	add(ret, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0));
	add(ret, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, trace));
	add(ret,
		(struct sock_filter)BPF_STMT(
			BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
	for (unsigned nr = 0; nr < SYSCALL_MAX; nr++) {
		if (!filter_skips(nr))
			continue;
		add(ret, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1));
		add(ret, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, allow));
	}
	add(ret, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, trace));
}

int filter_install(const struct ptrace_filter *f)
{
	struct sock_fprog program = {f->n, (struct sock_filter *)f->code};

	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0)
		return 0;
	/* An unprivileged process may only use a filter if it cannot gain privileges. Under an
	 * unprivileged tracer programs cannot gain any, anyway. */
	if (errno != EACCES || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0 ? -errno : 0;
}
