/* The file of a descriptor: its kind, and the endpoints of a TCP socket.
 *
 * There are two ways to read the same members: plain loads if the kernel has bpf_rdonly_cast(),
 * otherwise bpf_probe_read_kernel(), which costs ten times as much.
 */
#ifndef TRACE_BPF_FILE_H
#define TRACE_BPF_FILE_H

#ifdef __bpf__

#include "trace/bpf/maps.bpf.h"

#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define S_IFREG 0100000
#define S_IFBLK 0060000
#define S_IFDIR 0040000
#define S_IFCHR 0020000
#define S_IFIFO 0010000
#define O_NONBLOCK 04000
#define AF_INET 2
#define AF_INET6 10
#define SOCK_STREAM 1
#define IPPROTO_TCP 6

/* Turns a stored address into a pointer again: the verifier forgets types in memory.
 */
#define POINTER(type, address)                                                                     \
	(settings.cast ? CAST(type, (const void *)(address)) : (type *)(address))

/* A member of the target of a pointer, read in one of the two ways. */
#define MEMBER(pointer, member) (settings.cast ? (pointer)->member : BPF_CORE_READ(pointer, member))

/* What is known about a descriptor. */
struct look {
	uint8_t file;  /* enum trace_file */
	uint64_t of;   /* the address of the struct file */
	uint64_t sock; /* the address of the struct sock of a TCP socket */
};

FORCE_INLINE struct file *file_get(struct task_struct *task, uint32_t fd)
{
	struct fdtable *table = task->files->fdt;
	struct file **files, *file = NULL;

	if (fd >= table->max_fds)
		return NULL;
	files = table->fd;
	if (settings.cast) {
		/* An array of pointers has no type to cast to, but the head of a list begins with a
		 * pointer. */
		struct list_head *slot = CAST(struct list_head, files + fd);

		return CAST(struct file, slot->next);
	}
	bpf_probe_read_kernel(&file, sizeof(file), files + fd);
	return file;
}

FORCE_INLINE struct sock *sock_get(struct file *file)
{
	struct socket *socket;

	if (settings.cast) {
		socket = CAST(struct socket, file->private_data);
		return socket->sk;
	}
	socket = BPF_CORE_READ(file, private_data);
	return BPF_CORE_READ(socket, sk);
}

FORCE_INLINE bool file_blocks(uint64_t address)
{
	struct file *file = POINTER(struct file, address);

	return !(MEMBER(file, f_flags) & O_NONBLOCK);
}

FORCE_INLINE bool sock_is_tcp(struct sock *sock)
{
	uint16_t family = MEMBER(sock, __sk_common.skc_family);

	return (family == AF_INET || family == AF_INET6) && MEMBER(sock, sk_type) == SOCK_STREAM &&
		MEMBER(sock, sk_protocol) == IPPROTO_TCP;
}

FORCE_INLINE uint16_t file_mode(struct file *file)
{
	return settings.cast ? file->f_inode->i_mode : BPF_CORE_READ(file, f_inode, i_mode);
}

FORCE_INLINE uint64_t file_inode(uint64_t address)
{
	struct file *file = POINTER(struct file, address);

	return settings.cast ? file->f_inode->i_ino : BPF_CORE_READ(file, f_inode, i_ino);
}

#define S_PRIVATE (1u << 9)
#define S_ANON_INODE (1u << 19)

/* Descriptors of processes are regular files since Linux 6.9, and other anonymous ones may be, too:
 * they contain no data. Kernels without bpf_rdonly_cast() are older. */
FORCE_INLINE bool file_is_anonymous(struct file *file)
{
	return settings.cast && file->f_inode->i_flags & (S_PRIVATE | S_ANON_INODE);
}

FORCE_INLINE void look_at(struct file *file, struct look *ret)
{
	struct sock *sock;

	ret->of = (uint64_t)file;
	switch (file_mode(file) & S_IFMT) {
	case S_IFREG:
		ret->file = file_is_anonymous(file) ? TRACE_FILE_OTHER : TRACE_FILE_STORAGE;
		break;
	case S_IFBLK:
		ret->file = TRACE_FILE_STORAGE;
		break;
	case S_IFSOCK:
		sock = sock_get(file);
		ret->file = TRACE_FILE_SOCKET;
		if (sock_is_tcp(sock)) {
			ret->file = TRACE_FILE_TCP;
			ret->sock = (uint64_t)sock;
		}
		break;
	case S_IFDIR:
		ret->file = TRACE_FILE_DIRECTORY;
		break;
	case S_IFIFO:
		ret->file = TRACE_FILE_PIPE;
		break;
	case S_IFCHR:
		ret->file = TRACE_FILE_DEVICE;
		break;
	default:
		ret->file = TRACE_FILE_OTHER;
	}
}

FORCE_INLINE void look(struct task_struct *task, int64_t fd, struct look *ret)
{
	struct file *file;

	*ret = (struct look){};
	if (fd < 0)
		return;
	file = file_get(task, (uint32_t)fd);
	if (file)
		look_at(file, ret);
}

/* Find the file of a call. */
FORCE_INLINE void look_for(struct task_struct *task, const volatile struct bpf_call *c,
	struct bpf_thread *t, const uint64_t args[TRACE_ARGS], int64_t ret, struct look *seen)
{
	int64_t fd = -1;

	switch (c->fd_arg) {
	case 0:
		fd = (int32_t)args[0];
		break;
	case 1:
		fd = (int32_t)args[1];
		break;
	case 2:
		fd = (int32_t)args[2];
		break;
	case 3:
		fd = (int32_t)args[3];
		break;
	case 4:
		fd = (int32_t)args[4];
		break;
	}
	if (c->flags & BPF_CALL_RETURNS_FD && ret >= 0)
		fd = ret;
	if (c->flags & BPF_CALL_CLOSES)
		*seen = (struct look){.file = t->file};
	else
		look(task, fd, seen);
}

/* 10.0.0.1 as ::ffff:10.0.0.1: a connection over IPv4 with a socket that supports both. */
FORCE_INLINE bool is_mapped(const uint8_t address[16])
{
	const uint32_t *words = (const uint32_t *)address;

	return !words[0] && !words[1] && words[2] == __builtin_bswap32(0xffff);
}

FORCE_INLINE void ends_from_v6(struct sock *sock, struct trace_endpoints *ret)
{
	uint8_t local[16] __attribute__((aligned(8))), remote[16] __attribute__((aligned(8)));

	bpf_core_read(local, sizeof(local), &sock->__sk_common.skc_v6_rcv_saddr);
	bpf_core_read(remote, sizeof(remote), &sock->__sk_common.skc_v6_daddr);
	if (is_mapped(remote)) {
		ret->family = AF_INET;
		__builtin_memcpy(ret->local, local + 12, 4);
		__builtin_memcpy(ret->remote, remote + 12, 4);
		return;
	}
	__builtin_memcpy(ret->local, local, sizeof(local));
	__builtin_memcpy(ret->remote, remote, sizeof(remote));
}

/* Both ends of a TCP socket; family 0 if it has no remote end. */
FORCE_INLINE void ends_get(uint64_t of, struct trace_endpoints *ret)
{
	struct sock *sock = POINTER(struct sock, of);
	uint32_t address;

	__builtin_memset(ret, 0, sizeof(*ret));
	ret->remote_port = MEMBER(sock, __sk_common.skc_dport);
	if (!ret->remote_port)
		return;
	ret->local_port = __builtin_bswap16(MEMBER(sock, __sk_common.skc_num));
	ret->family = MEMBER(sock, __sk_common.skc_family);
	if (ret->family == AF_INET6) {
		ends_from_v6(sock, ret);
		return;
	}
	address = MEMBER(sock, __sk_common.skc_rcv_saddr);
	__builtin_memcpy(ret->local, &address, sizeof(address));
	address = MEMBER(sock, __sk_common.skc_daddr);
	__builtin_memcpy(ret->remote, &address, sizeof(address));
}

#endif
#endif
