/* The few members of kernel structures that are read here. Their offsets are found when the
 * programs are loaded (CO-RE), so the build needs no kernel headers.
 */
#ifndef TRACE_BPF_KERNEL_H
#define TRACE_BPF_KERNEL_H

#ifdef __bpf__

#include "trace/bpf/common.bpf.h"
#include "trace/bpf/shared.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct list_head {
	struct list_head *next;
};

struct inode {
	unsigned short i_mode;
	unsigned int i_flags;
	unsigned long i_ino;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct file {
	struct path f_path;
	struct inode *f_inode;
	unsigned int f_flags;
	void *private_data;
};

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live;
	int group_exit_code;
	unsigned int flags;
};

struct thread_info {
	unsigned long flags;
	uint32_t status;
};

struct bpf_local_storage;

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	int pid, tgid, exit_code;
	struct files_struct *files;
	struct signal_struct *signal;
	struct task_struct *group_leader;
	struct bpf_local_storage *bpf_storage;
	char comm[16];
};

struct linux_binprm {
	const char *filename;
};

struct sigaction {
	void *sa_handler;
};

struct k_sigaction {
	struct sigaction sa;
};

union __sifields {
	struct {
		int _pid;
	} _kill;
};

struct kernel_siginfo {
	int si_signo, si_code;
	union __sifields _sifields;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long di, si, dx, r10, r8, r9, bx, cx, bp, orig_ax;
};
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
	unsigned long long regs[31];
	unsigned long long orig_x0;
	int32_t syscallno;
};
#endif

#pragma clang attribute pop

#endif
#endif
