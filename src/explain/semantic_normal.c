#include "explain/semantic_normal.h"

#include "base/array.h"
#include <errno.h>
#include <string.h>

#define OF(call) (1u << TRACE_CALL_##call)
#define ANY (~0u)
#define NAMES (OF(OPEN) | OF(META))

static const struct {
	int error;
	unsigned calls;
} everyday[] = {
	/* Temporary failures: try again. */
	{EAGAIN, ANY},
	{EINPROGRESS, ANY},
	{EALREADY, ANY},
	{EINTR, ANY},
	{ECANCELED, ANY},
	{ETIMEDOUT, OF(WAIT)},
	/* Answers about names and attributes. */
	{ENOENT, NAMES | OF(CONNECT) | OF(PROCESS) | OF(OTHER)},
	{ENODATA, NAMES},
	{EEXIST, NAMES | OF(OTHER) | OF(WAIT) | OF(CONNECT)},
	{ENOTEMPTY, NAMES},
	{ENOTDIR, NAMES | OF(PROCESS)},
	{EISDIR, NAMES | OF(READ)},
	{ELOOP, NAMES},
	{ENAMETOOLONG, NAMES},
	{ERANGE, NAMES | OF(OTHER)},
	{EACCES, NAMES | OF(PROCESS) | OF(OTHER)},
	{EPERM, NAMES | OF(PROCESS) | OF(OTHER)},
	{EBUSY, NAMES},
	{ESTALE, NAMES},
	/* Probes for features of the kernel, a file or a process. */
	{ENOSYS, ANY},
	{EOPNOTSUPP, ANY},
	{EXDEV, ANY},
	{EINVAL, NAMES | OF(CONNECT) | OF(OTHER) | OF(MEMORY) | OF(PROCESS) | OF(SYNC)},
	{ENXIO, NAMES | OF(OTHER)},
	{ESPIPE, ANY},
	{ENOTTY, ANY},
	{ENODEV, NAMES | OF(OTHER)},
	{ESRCH, ANY},
	{ECHILD, ANY},
	{EBADF, OF(OPEN) | OF(OTHER)},
	{ENOPROTOOPT, OF(CONNECT)},
	{EPROTONOSUPPORT, OF(OPEN) | OF(CONNECT)},
	{EAFNOSUPPORT, OF(OPEN) | OF(CONNECT)},
	{EADDRINUSE, OF(CONNECT)},
	{EADDRNOTAVAIL, OF(CONNECT)},
	{EISCONN, OF(CONNECT)},
};

/* The other end is gone; the rules for crashes report that. */
static const int lost_connection[] = {ECONNREFUSED, ECONNRESET, ECONNABORTED, EPIPE, ENOTCONN,
	ESHUTDOWN, ETIMEDOUT, EHOSTUNREACH, EHOSTDOWN, ENETUNREACH, ENETDOWN, ENETRESET};

static const int resources[] = {ENOSPC, EDQUOT, EMFILE, ENFILE, EROFS, EIO, EFBIG, ENOMEM, ENOBUFS};

static const int translations[] = {
	EIO, EREMOTEIO, EPROTO, EROFS, ENOSPC, ENOMEM, ESTALE, ENOTCONN, ECONNABORTED, EBADFD};

static bool is_in(const int *list, size_t n, int error)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i] == error)
			return true;
	}
	return false;
}

bool normal_is_lost_connection(int error)
{
	return is_in(lost_connection, ARRAY_SIZE(lost_connection), error);
}

bool normal_is_resource(int error)
{
	return is_in(resources, ARRAY_SIZE(resources), error);
}

bool normal_is_translation(int error)
{
	return is_in(translations, ARRAY_SIZE(translations), error);
}

static bool is_named(const char *name, const char *const *names)
{
	for (; *names; names++) {
		if (!strcmp(name, *names))
			return true;
	}
	return false;
}

/* Calls that fail if something ran out. Of the calls about memory only a few allocate any; the
 * others fail with ENOMEM if an address is not in use. */
static const struct {
	int error;
	unsigned calls;
} exhaustion[] = {
	{ENOSPC, OF(WRITE) | OF(SYNC) | OF(OPEN) | OF(META)},
	{EDQUOT, OF(WRITE) | OF(SYNC) | OF(OPEN) | OF(META)},
	{EMFILE, OF(OPEN)},
	{ENFILE, OF(OPEN)},
	{ENOMEM, OF(MEMORY) | OF(PROCESS) | OF(OPEN) | OF(READ) | OF(WRITE) | OF(META)},
	{EIO, OF(READ) | OF(WRITE) | OF(SYNC) | OF(OPEN) | OF(META)},
	{EROFS, OF(WRITE) | OF(OPEN) | OF(META)},
	{EFBIG, OF(WRITE) | OF(META)},
};

bool normal_is_exhaustion(int error, uint16_t nr, bool compat, unsigned file)
{
	static const char *const takes_memory[] = {"mmap", "mmap2", "mremap", "brk", NULL};
	static const char *const asks[] = {"access", "faccessat", "faccessat2", "inotify_add_watch",
		"inotify_init", "inotify_init1", "fanotify_init", "fanotify_mark", NULL};
	const struct syscall_info *info = compat ? syscall_get_compat(nr) : syscall_get(nr);

	if (!info || is_named(info->name, asks) ||
		(info->call == TRACE_CALL_MEMORY && !is_named(info->name, takes_memory)))
		return false;
	/* A terminal without its user also fails with EIO. */
	if (error == EIO && file != TRACE_FILE_STORAGE && file != TRACE_FILE_DIRECTORY &&
		file != TRACE_FILE_NONE)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(exhaustion); i++) {
		if (exhaustion[i].error == error && exhaustion[i].calls & (1u << info->call))
			return true;
	}
	return false;
}

static bool is_channel(unsigned file)
{
	return file == TRACE_FILE_TCP || file == TRACE_FILE_SOCKET || file == TRACE_FILE_PIPE;
}

bool normal_builtin(int error, unsigned call, unsigned file)
{
	if (normal_is_lost_connection(error) && (is_channel(file) || call == TRACE_CALL_CONNECT))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(everyday); i++) {
		if (everyday[i].error == error && everyday[i].calls & (1u << call))
			return true;
	}
	return false;
}

const char *normal_role(bool serves)
{
	return serves ? "server" : "client";
}

bool normal_pair(const struct thresholds *trained, bool serves, uint16_t nr, int error)
{
	const struct syscall_info *info = syscall_get(nr);
	char buf[SYSCALL_NAME_MAX];

	return trained && info &&
		thresholds_is_normal(
			trained, normal_role(serves), info->name, errno_name(error, buf));
}

bool normal_failure(
	const struct traces *t, const struct thresholds *trained, const struct traced_failure *f)
{
	if (f->eof || normal_builtin(f->error, f->call, f->file))
		return true;
	return !f->compat && normal_pair(trained, traces_serves(t, f->process), f->nr, f->error);
}
