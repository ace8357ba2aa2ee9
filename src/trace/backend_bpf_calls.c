/* The table of calls, as the kernel wants it. */
#include "trace/backend_bpf.h"

#include <linux/io_uring.h>
#include <string.h>

static const struct {
	const char *name;
	unsigned flags;
} special[] = {
	{"execve", BPF_CALL_REPLACES},
	{"execveat", BPF_CALL_REPLACES},
	{"close", BPF_CALL_CLOSES},
	{"io_submit", BPF_CALL_AIO_SUBMIT},
	{"io_getevents", BPF_CALL_AIO_REAP},
	{"io_pgetevents", BPF_CALL_AIO_REAP},
	{"accept", BPF_CALL_ACCEPTS},
	{"accept4", BPF_CALL_ACCEPTS},
};

static unsigned flags_by_name(const char *name)
{
	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
		if (!strcmp(special[i].name, name))
			return special[i].flags;
	}
	return 0;
}

/* Is a call that returned a descriptor about that, and not about its argument? */
static bool returns_fd(unsigned nr)
{
	struct trace_event e = {.what = TRACE_CALL, .nr = (uint16_t)nr, .ret = 1000};

	return trace_event_fd(&e) == e.ret;
}

static struct bpf_call call_from(const struct syscall_info *s)
{
	struct bpf_call c = {.call = s->call, .capture = s->capture, .fd_arg = s->fd_arg};

	while (c.n_args < TRACE_ARGS && s->args[c.n_args] != ARG_NONE)
		c.n_args++;
	c.flags = (uint8_t)flags_by_name(s->name);
	return c;
}

static uint16_t number_of(const char *name)
{
	int nr = syscall_number(name);

	return nr < 0 ? BPF_NO_CALL : (uint16_t)nr;
}

static const struct {
	uint8_t op;
	const char *call;
} uring[] = {
	{IORING_OP_READV, "preadv"},
	{IORING_OP_WRITEV, "pwritev"},
	{IORING_OP_FSYNC, "fsync"},
	{IORING_OP_READ_FIXED, "pread64"},
	{IORING_OP_WRITE_FIXED, "pwrite64"},
	{IORING_OP_SYNC_FILE_RANGE, "sync_file_range"},
	{IORING_OP_SENDMSG, "sendmsg"},
	{IORING_OP_RECVMSG, "recvmsg"},
	{IORING_OP_ACCEPT, "accept4"},
	{IORING_OP_CONNECT, "connect"},
	{IORING_OP_FALLOCATE, "fallocate"},
	{IORING_OP_OPENAT, "openat"},
	{IORING_OP_CLOSE, "close"},
	{IORING_OP_STATX, "statx"},
	{IORING_OP_READ, "pread64"},
	{IORING_OP_WRITE, "pwrite64"},
	{IORING_OP_SEND, "sendto"},
	{IORING_OP_RECV, "recvfrom"},
	{IORING_OP_OPENAT2, "openat2"},
	{IORING_OP_SPLICE, "splice"},
	{IORING_OP_TEE, "tee"},
	{IORING_OP_SHUTDOWN, "shutdown"},
	{IORING_OP_RENAMEAT, "renameat2"},
	{IORING_OP_UNLINKAT, "unlinkat"},
	{IORING_OP_MKDIRAT, "mkdirat"},
	{IORING_OP_SYMLINKAT, "symlinkat"},
	{IORING_OP_LINKAT, "linkat"},
};

void bpf_calls_fill(struct bpf_settings *s)
{
	for (unsigned i = 0; i < SYSCALL_MAX; i++) {
		const struct syscall_info *own = syscall_get(i), *compat = syscall_get_compat(i);
		struct bpf_call unknown = {.n_args = TRACE_ARGS, .fd_arg = -1};

		s->calls[i] = own ? call_from(own) : unknown;
		if (own && returns_fd(i))
			s->calls[i].flags |= BPF_CALL_RETURNS_FD;
		s->compat[i] = compat ? call_from(compat) : unknown;
	}
	s->nr_clone = number_of("clone");
	s->nr_clone3 = number_of("clone3");
	s->nr_vfork = number_of("vfork");
	memset(s->uring_calls, 0xff, sizeof(s->uring_calls));
	for (size_t i = 0; i < sizeof(uring) / sizeof(uring[0]); i++)
		s->uring_calls[uring[i].op] = number_of(uring[i].call);
}
