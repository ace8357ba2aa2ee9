/* The maps of the programs that follow I/O, the delivery of events, and the files behind
 * descriptors. */
#ifndef TRACE_BPF_STACK_MAPS_H
#define TRACE_BPF_STACK_MAPS_H

#ifdef __bpf__

#include "trace/bpf/stack_kernel.bpf.h"

const volatile struct stack_settings settings;
struct stack_shared shared;

#define OPEN_MAX 65536
#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define S_IFREG 0100000
#define S_IFCHR 0020000
#define AF_INET 2
#define AF_INET6 10
#define IPPROTO_TCP 6

/* Its size is set when the object is loaded. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
} ring SEC(".maps");

/* Watched processes, and their roles. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, uint32_t);
	__type(value, uint32_t);
} targets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, uint32_t);
	__type(value, uint8_t);
} fuse_devices SEC(".maps"), disks SEC(".maps");

/* Operations that have begun and not ended. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, OPEN_MAX);
	__type(key, uint64_t);
	__type(value, struct stack_event);
} open_fuse SEC(".maps"), open_bios SEC(".maps");

struct stack_client_key {
	uint64_t device, unique;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, OPEN_MAX);
	__type(key, struct stack_client_key);
	__type(value, struct stack_event);
} open_client SEC(".maps");

struct stack_inode {
	uint64_t device, inode;
};

/* Files that watched processes wrote to: later writeback of these files belongs to them. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct stack_inode);
	__type(value, uint8_t);
} written SEC(".maps");

enum stack_file { STACK_FILE_NONE, STACK_FILE_STORAGE, STACK_FILE_TCP, STACK_FILE_FUSE };

/* The current call of a thread of a daemon. */
struct stack_call {
	uint64_t start_ns, file, device, inode, buffer;
	int64_t offset, size;
	uint32_t fd, n_buffers; /* 0: `buffer` is not a vector */
	uint16_t nr;
	uint8_t class, kind, writes, moves, message, pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, uint32_t);
	__type(value, struct stack_call);
} calls SEC(".maps");

FORCE_INLINE void count_lost(void)
{
	__sync_fetch_and_add(&shared.lost, 1);
}

/* The reader polls several times per second, and is woken only when much data is waiting. */
FORCE_INLINE void emit(void *event, uint64_t size)
{
	uint64_t flags = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) < settings.wake_bytes
		? BPF_RB_NO_WAKEUP
		: BPF_RB_FORCE_WAKEUP;

	if (bpf_ringbuf_output(&ring, event, size, flags))
		count_lost();
}

FORCE_INLINE void event_begin(struct stack_event *e)
{
	uint64_t id = bpf_get_current_pid_tgid();

	e->pid = id >> 32;
	e->tid = (uint32_t)id;
	e->start_ns = bpf_ktime_get_ns();
}

FORCE_INLINE bool is_watched(void *map, uint32_t device)
{
	return bpf_map_lookup_elem(map, &device) != NULL;
}

FORCE_INLINE void watch_device(uint64_t device)
{
	uint32_t key = (uint32_t)device;
	uint8_t one = 1;

	if (!is_watched(&disks, key))
		bpf_map_update_elem(&disks, &key, &one, BPF_ANY);
}

FORCE_INLINE void watch_inode(uint64_t device, uint64_t inode)
{
	struct stack_inode key = {device, inode};
	uint8_t one = 1;

	if (!bpf_map_lookup_elem(&written, &key))
		bpf_map_update_elem(&written, &key, &one, BPF_ANY);
}

/* Watch the file system that is served through an open /dev/fuse from now on; returns its device,
 * or 0. */
FORCE_INLINE uint64_t fuse_watch(struct file *file)
{
	struct fuse_dev *dev;
	uint32_t device;
	uint8_t one = 1;

	if (BPF_CORE_READ(file, f_inode, i_rdev) != settings.fuse_rdev ||
		(BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) != S_IFCHR)
		return 0;
	dev = BPF_CORE_READ(file, private_data);
	device = BPF_CORE_READ(dev, fc, dev);
	if (device && !is_watched(&fuse_devices, device))
		bpf_map_update_elem(&fuse_devices, &device, &one, BPF_ANY);
	return device;
}

/* Examine a regular file in one of the two ways: plain loads, or calls that cost ten times as much.
 * Returns 0, or the type of the file if it is not a regular one. */
FORCE_INLINE unsigned short look_at_regular(struct stack_call *c, struct file *file)
{
	unsigned short mode;

	if (settings.cast) {
		struct inode *inode = CAST(struct file, file)->f_inode;

		mode = inode->i_mode & S_IFMT;
		if (mode != S_IFREG)
			return mode;
		c->device = inode->i_sb->s_dev;
		c->inode = inode->i_ino;
	} else {
		mode = BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT;
		if (mode != S_IFREG)
			return mode;
		c->device = BPF_CORE_READ(file, f_inode, i_sb, s_dev);
		c->inode = BPF_CORE_READ(file, f_inode, i_ino);
	}
	c->kind = STACK_FILE_STORAGE;
	return 0;
}

/* Examine the descriptor of a call. */
FORCE_INLINE void call_look(struct stack_call *c)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct fdtable *table = task->files->fdt;
	struct file *file = NULL;
	struct socket *socket;
	struct sock *sock;
	unsigned short mode;

	if (c->fd >= table->max_fds ||
		bpf_probe_read_kernel(&file, sizeof(file), table->fd + c->fd) || !file)
		return;
	c->file = (uint64_t)file;
	mode = look_at_regular(c, file);
	if (mode == S_IFCHR) {
		c->device = fuse_watch(file);
		c->kind = c->device ? STACK_FILE_FUSE : STACK_FILE_NONE;
	} else if (mode == S_IFSOCK && settings.messages) {
		unsigned short family;

		socket = BPF_CORE_READ(file, private_data);
		sock = BPF_CORE_READ(socket, sk);
		family = BPF_CORE_READ(sock, __sk_common.skc_family);
		if ((family != AF_INET && family != AF_INET6) ||
			BPF_CORE_READ(sock, sk_protocol) != IPPROTO_TCP)
			return;
		c->kind = STACK_FILE_TCP;
		c->file = (uint64_t)sock;
	}
}

/* Fill in the arguments of a call. */
FORCE_INLINE void call_fill(struct stack_call *c, struct pt_regs *regs)
{
	uint64_t args[4];

	regs_args(regs, args);
	c->fd = (uint32_t)args[0];
	c->buffer = args[1];
	c->offset = -1;
	switch (c->class) {
	case STACK_CLASS_PREAD:
	case STACK_CLASS_PWRITE:
		c->offset = (int64_t)args[3];
		c->size = (int64_t)args[2];
		break;
	case STACK_CLASS_READ:
	case STACK_CLASS_WRITE:
	case STACK_CLASS_RECVFROM:
	case STACK_CLASS_SENDTO:
		c->size = (int64_t)args[2];
		c->moves = 1;
		break;
	case STACK_CLASS_PREADV:
	case STACK_CLASS_PWRITEV:
		c->offset = (int64_t)args[3];
		c->n_buffers = (uint32_t)args[2];
		break;
	case STACK_CLASS_READV:
	case STACK_CLASS_WRITEV:
		c->n_buffers = (uint32_t)args[2];
		c->moves = 1;
		break;
	case STACK_CLASS_RECVMSG:
	case STACK_CLASS_SENDMSG:
		c->message = 1;
		break;
	case STACK_CLASS_TRUNCATE:
		c->offset = (int64_t)args[1];
		break;
	case STACK_CLASS_FALLOCATE:
		c->offset = (int64_t)args[2];
		c->size = (int64_t)args[3];
		break;
	}
	c->writes = c->class == STACK_CLASS_WRITE || c->class == STACK_CLASS_PWRITE ||
		c->class == STACK_CLASS_WRITEV || c->class == STACK_CLASS_PWRITEV ||
		c->class == STACK_CLASS_SENDTO || c->class == STACK_CLASS_SENDMSG;
	/* MSG_PEEK: the same data is read again later. */
	if ((c->class == STACK_CLASS_RECVFROM && args[3] & 2) ||
		(c->class == STACK_CLASS_RECVMSG && args[2] & 2))
		return;
	call_look(c);
}

#endif
#endif
