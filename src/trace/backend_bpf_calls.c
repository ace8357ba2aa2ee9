/* The table of calls, in the kernel's form. */
#include "trace/backend_bpf.h"

#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <string.h>

static const struct {
	const char *name;
	unsigned flags;
} special[] = {
	{"execve", BPF_CALL_REPLACES},
	{"execveat", BPF_CALL_REPLACES},
	{"close", BPF_CALL_CLOSES},
	{"io_submit", BPF_CALL_SUBMITS},
	{"io_getevents", BPF_CALL_REAPS},
	{"io_pgetevents", BPF_CALL_REAPS},
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

/* The flags of a call, from the functions of the table applied to a sample event. */
static unsigned flags_by_event(unsigned nr, bool compat, const struct syscall_info *s)
{
	struct trace_event e = {.what = TRACE_CALL,
		.flags = compat ? TRACE_COMPAT : 0,
		.file = TRACE_FILE_STORAGE,
		.nr = (uint16_t)nr,
		.ret = 1};

	return (syscall_returns_fd(s) ? BPF_CALL_RETURNS_FD : 0) |
		(trace_event_bytes(&e) ? BPF_CALL_MOVES : 0) |
		(trace_event_waits(&e) ? BPF_CALL_WAITS : 0);
}

static struct bpf_call call_from(unsigned nr, bool compat)
{
	const struct syscall_info *s = compat ? syscall_get_compat(nr) : syscall_get(nr);
	struct bpf_call c = {.fd_arg = -1, .n_args = TRACE_ARGS};

	if (!s)
		return c;
	c = (struct bpf_call){.call = s->call, .capture = s->capture, .fd_arg = s->fd_arg};
	while (c.n_args < TRACE_ARGS && s->args[c.n_args] != ARG_NONE)
		c.n_args++;
	c.no_result = !syscall_has_result(s);
	c.flags = (uint8_t)(flags_by_name(s->name) | flags_by_event(nr, compat, s));
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

static const struct {
	uint8_t op;
	const char *call;
} aio[] = {
	{IOCB_CMD_PREAD, "pread64"},
	{IOCB_CMD_PWRITE, "pwrite64"},
	{IOCB_CMD_FSYNC, "fsync"},
	{IOCB_CMD_FDSYNC, "fdatasync"},
	{IOCB_CMD_PREADV, "preadv"},
	{IOCB_CMD_PWRITEV, "pwritev"},
};

static void async_fill(struct bpf_settings *s)
{
	memset(s->uring_calls, 0xff, sizeof(s->uring_calls));
	memset(s->aio_calls, 0xff, sizeof(s->aio_calls));
	for (size_t i = 0; i < sizeof(uring) / sizeof(uring[0]); i++)
		s->uring_calls[uring[i].op] = number_of(uring[i].call);
	for (size_t i = 0; i < sizeof(aio) / sizeof(aio[0]); i++)
		s->aio_calls[aio[i].op] = number_of(aio[i].call);
	s->uring_moves = UINT64_C(1) << IORING_OP_READV | UINT64_C(1) << IORING_OP_WRITEV |
		UINT64_C(1) << IORING_OP_READ | UINT64_C(1) << IORING_OP_WRITE |
		UINT64_C(1) << IORING_OP_READ_FIXED | UINT64_C(1) << IORING_OP_WRITE_FIXED;
}

void bpf_calls_fill(struct bpf_settings *s)
{
	for (unsigned i = 0; i < SYSCALL_MAX; i++) {
		s->calls[i] = call_from(i, false);
		s->compat[i] = call_from(i, true);
	}
	s->nr_clone = number_of("clone");
	s->nr_clone3 = number_of("clone3");
	s->nr_vfork = number_of("vfork");
	async_fill(s);
}
