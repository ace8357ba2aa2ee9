/* Where the number and the arguments of a call are. */
#ifndef TRACE_BPF_ARCH_H
#define TRACE_BPF_ARCH_H

#ifdef __bpf__

#include "trace/bpf/kernel.bpf.h"

#if defined(__TARGET_ARCH_x86)

#define TS_COMPAT 2u

FORCE_INLINE bool arch_compat(struct task_struct *task)
{
	return task->thread_info.status & TS_COMPAT;
}

FORCE_INLINE int64_t arch_call(struct pt_regs *regs)
{
	return (int64_t)regs->orig_ax;
}

FORCE_INLINE void arch_args(struct pt_regs *regs, bool compat, uint64_t args[TRACE_ARGS])
{
	if (compat) {
		args[0] = (uint32_t)regs->bx;
		args[1] = (uint32_t)regs->cx;
		args[2] = (uint32_t)regs->dx;
		args[3] = (uint32_t)regs->si;
		args[4] = (uint32_t)regs->di;
		args[5] = (uint32_t)regs->bp;
		return;
	}
	args[0] = regs->di;
	args[1] = regs->si;
	args[2] = regs->dx;
	args[3] = regs->r10;
	args[4] = regs->r8;
	args[5] = regs->r9;
}

#elif defined(__TARGET_ARCH_arm64)

#define TIF_32BIT 22

FORCE_INLINE bool arch_compat(struct task_struct *task)
{
	return task->thread_info.flags & (1ul << TIF_32BIT);
}

FORCE_INLINE int64_t arch_call(struct pt_regs *regs)
{
	return regs->syscallno;
}

FORCE_INLINE void arch_args(struct pt_regs *regs, bool compat, uint64_t args[TRACE_ARGS])
{
	args[0] = regs->orig_x0;
	args[1] = regs->regs[1];
	args[2] = regs->regs[2];
	args[3] = regs->regs[3];
	args[4] = regs->regs[4];
	args[5] = regs->regs[5];
}

#else
#error "which processor is this?"
#endif

#endif
#endif
