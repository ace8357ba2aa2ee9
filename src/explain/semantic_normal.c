#include "explain/semantic_normal.h"

#include "base/array.h"
#include <errno.h>

#define OF(call) (1u << TRACE_CALL_##call)
#define ANY (~0u)
#define NAMES (OF(OPEN) | OF(META))

static const struct {
	int error;
	unsigned calls;
} everyday[] = {
	/* Not now, not yet, again. */
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
	/* Trying out what the kernel, a file or a process can do. */
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

/* Whose other end goes away, which is told by the rules of crashes. */
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

bool normal_failure(
	const struct traces *t, const struct thresholds *trained, const struct traced_failure *f)
{
	const struct syscall_info *info = f->compat ? NULL : syscall_get(f->nr);
	char buf[SYSCALL_NAME_MAX];

	if (f->eof || normal_builtin(f->error, f->call, f->file))
		return true;
	return trained && info &&
		thresholds_is_normal(trained, normal_role(traces_serves(t, f->process)), info->name,
			errno_name(f->error, buf));
}
