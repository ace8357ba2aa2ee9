/* The members of kernel structures that are read to follow I/O. kernel.bpf.h has those for the
 * tracer of system calls, and common.bpf.h those for both.
 */
#ifndef TRACE_BPF_STACK_KERNEL_H
#define TRACE_BPF_STACK_KERNEL_H

#ifdef __bpf__

#include "trace/bpf/common.bpf.h"
#include "trace/bpf/stack.h"
#include <stdbool.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct super_block {
	uint32_t s_dev;
};

struct inode {
	unsigned short i_mode;
	uint32_t i_rdev;
	struct super_block *i_sb;
	unsigned long i_ino;
};

struct fuse_inode {
	uint64_t orig_ino;
};

struct address_space {
	struct inode *host;
};

struct folio {
	struct address_space *mapping;
	unsigned long index;
};

struct page {
	unsigned long compound_head;
};

struct dentry {
	struct qstr d_name;
};

struct path {
	struct dentry *dentry;
};

struct file {
	struct path f_path;
	struct inode *f_inode;
	long long f_pos;
	void *private_data;
};

struct task_struct {
	int pid, tgid;
	struct files_struct *files;
};

struct fuse_conn {
	uint32_t dev;
};

struct fuse_mount {
	struct fuse_conn *fc;
};

struct fuse_dev {
	struct fuse_conn *fc;
};

struct fuse_in_header {
	uint32_t len, opcode;
	uint64_t unique, nodeid;
	uint32_t uid, gid, pid, padding;
};

struct fuse_out_header {
	uint32_t len;
	int32_t error;
	uint64_t unique;
};

struct fuse_in_arg {
	unsigned size;
	const void *value;
};

struct fuse_arg {
	unsigned size;
	void *value;
};

struct fuse_args {
	struct fuse_in_arg in_args[4];
	struct fuse_arg out_args[2];
};

struct fuse_args_pages {
	struct folio **folios;
	unsigned int num_folios;
};

enum fuse_req_flag { FR_BACKGROUND = 2 };

struct fuse_req {
	struct fuse_args *args;
	unsigned long flags;
	struct {
		struct fuse_in_header h;
	} in;
	struct {
		struct fuse_out_header h;
	} out;
	struct fuse_mount *fm;
};

struct bvec_iter {
	uint64_t bi_sector;
	unsigned int bi_size, bi_idx, bi_bvec_done;
};

struct bio_vec {
	struct page *bv_page;
	unsigned int bv_len, bv_offset;
};

struct block_device {
	uint32_t bd_dev;
};

struct bio {
	struct bio *bi_next;
	struct block_device *bi_bdev;
	unsigned int bi_opf;
	uint8_t bi_status;
	struct bvec_iter bi_iter;
	struct bio_vec *bi_io_vec;
};

struct request {
	struct bio *bio;
};

struct tcp_sock {
	uint32_t write_seq, copied_seq;
};

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	uint32_t fd;
	struct file *file;
};

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long di, si, dx, r10;
};
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
	unsigned long long regs[31];
	unsigned long long orig_x0;
};
#endif

#pragma clang attribute pop

FORCE_INLINE void regs_args(struct pt_regs *regs, uint64_t args[4])
{
#if defined(__TARGET_ARCH_x86)
	args[0] = regs->di;
	args[1] = regs->si;
	args[2] = regs->dx;
	args[3] = regs->r10;
#elif defined(__TARGET_ARCH_arm64)
	args[0] = regs->orig_x0;
	args[1] = regs->regs[1];
	args[2] = regs->regs[2];
	args[3] = regs->regs[3];
#endif
}

#endif
#endif
