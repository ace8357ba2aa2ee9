#include "model/syscalls.h"

#include "model/syscall_table.h"
#include <asm/unistd.h>
#include <stddef.h>
#include <string.h>

const struct syscall_info *syscall_get(unsigned nr)
{
	return nr < SYSCALL_MAX && syscall_table[nr].name ? &syscall_table[nr] : NULL;
}

const struct syscall_info *syscall_get_compat(unsigned nr)
{
	const struct syscall_compat *c = nr < SYSCALL_MAX ? &syscall_compat_table[nr] : NULL;

	if (!c)
		return NULL;
	return c->native ? &syscall_table[c->native - 1] : c->own;
}

int syscall_number(const char *name)
{
	for (unsigned i = 0; i < SYSCALL_MAX; i++) {
		if (syscall_table[i].name && !strcmp(syscall_table[i].name, name))
			return (int)i;
	}
	return -1;
}

bool syscall_returns_fd(const struct syscall_info *s)
{
	if (s->call != TRACE_CALL_OPEN)
		return false;
	return s->fd_arg < 0 ? s->capture != CAPTURE_FDS : s->capture == CAPTURE_ENDPOINTS;
}

bool syscall_has_result(const struct syscall_info *s)
{
	/* Only 32-bit programs have the other call. */
	return s != &syscall_table[__NR_rt_sigreturn] && strcmp(s->name, "sigreturn") != 0;
}

const struct syscall_info *trace_event_syscall(const struct trace_event *e)
{
	if (e->what != TRACE_CALL && e->what != TRACE_PENDING && e->what != TRACE_ASYNC)
		return NULL;
	return e->flags & TRACE_COMPAT ? syscall_get_compat(e->nr) : syscall_get(e->nr);
}

int trace_event_native(const struct trace_event *e)
{
	const struct syscall_info *s = trace_event_syscall(e);

	if (!s)
		return -1;
	if (s >= syscall_table && s < syscall_table + SYSCALL_MAX)
		return (int)(s - syscall_table);
	/* Of the calls that only 32-bit programs have, this one matters for descriptors. */
	return strcmp(s->name, "fcntl64") == 0 ? __NR_fcntl : -1;
}

int trace_event_fd(const struct trace_event *e)
{
	const struct syscall_info *s = trace_event_syscall(e);
	int fd;

	if (!s)
		return -1;
	if (e->what == TRACE_CALL && e->ret >= 0 && syscall_returns_fd(s))
		return (int)e->ret;
	if (s->fd_arg < 0)
		return -1;
	fd = (int)e->args[s->fd_arg];
	return fd < 0 ? -1 : fd;
}

unsigned trace_event_call(const struct trace_event *e)
{
	const struct syscall_info *s = trace_event_syscall(e);

	return s ? s->call : TRACE_CALL_OTHER;
}

/* The kernel's internal numbers, which no program sees: the call is repeated, or ends in EINTR.
 */
#define RESTART_FIRST 512
#define RESTART_LAST 516

int trace_event_errno(const struct trace_event *e)
{
	const struct syscall_info *s;
	int number;

	if ((e->what != TRACE_CALL && e->what != TRACE_ASYNC) || e->ret >= 0 || e->ret < -4095)
		return 0;
	s = trace_event_syscall(e);
	if (s && !syscall_has_result(s))
		return 0;
	number = (int)-e->ret;
	return number >= RESTART_FIRST && number <= RESTART_LAST ? 0 : number;
}

/* Calls that are not listed return the number of messages, not bytes. */
static bool returns_bytes(const struct trace_event *e, const struct syscall_info *s)
{
	if (s == &syscall_table[__NR_recvmmsg] || s == &syscall_table[__NR_sendmmsg])
		return false;
	return !(e->flags & TRACE_COMPAT) || strcmp(s->name, "recvmmsg_time64") != 0;
}

int64_t trace_event_bytes(const struct trace_event *e)
{
	const struct syscall_info *s = e->ret > 0 ? trace_event_syscall(e) : NULL;

	if (!s || e->what == TRACE_PENDING ||
		(s->call != TRACE_CALL_READ && s->call != TRACE_CALL_WRITE))
		return 0;
	return returns_bytes(e, s) ? e->ret : 0;
}

bool trace_event_waits(const struct trace_event *e)
{
	const struct syscall_info *s = trace_event_syscall(e);

	if (!s)
		return false;
	if (s->call == TRACE_CALL_READ)
		return e->file != TRACE_FILE_STORAGE && e->file != TRACE_FILE_DIRECTORY &&
			e->file != TRACE_FILE_TCP;
	return s->call == TRACE_CALL_WAIT ||
		(s->call == TRACE_CALL_OPEN && s->capture == CAPTURE_ENDPOINTS);
}
