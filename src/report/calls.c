#include "report/calls.h"

#include "base/time.h"
#include <errno.h>
#include <inttypes.h>
#include <linux/sched.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

/* The time of day, in microseconds. */
static void add_time(struct strbuf *out, int64_t wall_ns, const char *observer)
{
	int64_t s = floor_div(wall_ns, NS_PER_SEC), of_day = s - floor_div(s, 86400) * 86400;

	strbuf_printf(out, "%02d:%02d:%02d.%06d ", (int)(of_day / 3600), (int)(of_day / 60 % 60),
		(int)(of_day % 60), (int)((wall_ns - s * NS_PER_SEC) / 1000));
	if (observer)
		strbuf_printf(out, "%s ", observer);
}

void calls_add_head(struct strbuf *out, const struct trace_event *e, const char *observer)
{
	add_time(out, e->start_ns, observer);
	if (e->pid)
		strbuf_printf(out, "%d/%d ", e->pid, e->tid);
}

static void add_name(struct strbuf *out, const struct trace_event *e, const struct syscall_info *s)
{
	strbuf_puts(out, e->what == TRACE_ASYNC ? "[async] " : "");
	if (s)
		strbuf_puts(out, s->name);
	else
		strbuf_printf(out, "syscall_%s%u", e->flags & TRACE_COMPAT ? "32_" : "", e->nr);
}

static void add_call(struct strbuf *out, const struct trace_event *e, const struct fd_names *names)
{
	const struct syscall_info *s = trace_event_syscall(e);
	unsigned n = s ? call_args_count(e, s) : TRACE_ARGS;

	add_name(out, e, s);
	strbuf_putc(out, '(');
	for (unsigned i = 0; i < n; i++) {
		strbuf_puts(out, i ? ", " : "");
		if (s)
			call_args_add(out, e, s, i, names);
		else
			strbuf_printf(out, "%#" PRIx64, e->args[i]);
	}
	strbuf_putc(out, ')');
}

static void add_signal(struct strbuf *out, const struct trace_event *e)
{
	char name[SYSCALL_NAME_MAX];

	strbuf_printf(out, "--- %s", signal_name(e->nr, name));
	if (e->args[0])
		strbuf_printf(out, " sent by %d", (int)e->args[0]);
	strbuf_puts(out, " ---");
}

static void add_exit(struct strbuf *out, const struct trace_event *e)
{
	char name[SYSCALL_NAME_MAX];
	int status = (int)e->ret;

	if (WIFSIGNALED(status))
		strbuf_printf(out, "+++ killed by %s%s +++", signal_name(WTERMSIG(status), name),
			WCOREDUMP(status) ? " (core dumped)" : "");
	else
		strbuf_printf(out, "+++ exited with %d +++", WEXITSTATUS(status));
}

static void add_exec(struct strbuf *out, const struct trace_event *e)
{
	strbuf_puts(out, "+++ now runs \"");
	call_args_escape(out, e->text ? e->text : "", e->text ? e->text_len : 0);
	strbuf_puts(out, "\" +++");
}

void calls_add_call(struct strbuf *out, const struct trace_event *e, const struct fd_names *names)
{
	switch (e->what) {
	case TRACE_CALL:
	case TRACE_PENDING:
	case TRACE_ASYNC:
		add_call(out, e, names);
		break;
	case TRACE_SIGNAL:
		add_signal(out, e);
		break;
	case TRACE_EXIT:
		add_exit(out, e);
		break;
	case TRACE_FORK:
		strbuf_printf(out, "+++ began %s %" PRId64 " +++",
			e->args[0] & CLONE_THREAD ? "thread" : "process", e->ret);
		break;
	case TRACE_EXEC:
		add_exec(out, e);
		break;
	case TRACE_LOST:
		strbuf_printf(out, "*** %" PRId64 " event%s lost here ***", e->ret,
			e->ret == 1 ? "" : "s");
		break;
	default:
		strbuf_printf(out, "*** an event of unknown kind %u ***", e->what);
	}
}

static void add_error(struct strbuf *out, const struct trace_event *e)
{
	char name[SYSCALL_NAME_MAX];
	int number = trace_event_errno(e);
	const char *what = number ? strerrordesc_np(number) : NULL;

	if (!number) { /* internal to the kernel */
		strbuf_printf(out, "? %s (to be restarted)", errno_name((int)-e->ret, name));
		return;
	}
	strbuf_printf(out, "-1 %s", errno_name(number, name));
	if (what)
		strbuf_printf(out, " (%s)", what);
}

/* Large results of memory calls are addresses. */
static void add_value(struct strbuf *out, const struct trace_event *e, const struct fd_names *names)
{
	const struct syscall_info *s = trace_event_syscall(e);

	if (s && !syscall_has_result(s))
		strbuf_puts(out, "?");
	else if (e->ret < 0 && e->ret >= -4095)
		add_error(out, e);
	else if (s && syscall_returns_fd(s) && e->ret <= INT32_MAX)
		call_args_fd(out, names, e->pid, (int)e->ret);
	else if ((s && s->call == TRACE_CALL_MEMORY && e->ret > 4095) || e->ret < 0)
		strbuf_printf(out, "%#" PRIx64, (uint64_t)e->ret);
	else
		strbuf_printf(out, "%" PRId64, e->ret);
}

void calls_add_result(struct strbuf *out, const struct trace_event *e, const struct fd_names *names)
{
	if (e->what == TRACE_PENDING) {
		strbuf_printf(out, " <... %.1f s, not returned>", (double)e->dur_ns / 1e9);
		return;
	}
	if (e->what != TRACE_CALL && e->what != TRACE_ASYNC)
		return;
	strbuf_puts(out, " = ");
	add_value(out, e, names);
	strbuf_printf(out, " <%s%" PRId64 ".%06d>", e->flags & TRACE_COARSE ? "~" : "",
		e->dur_ns / NS_PER_SEC, (int)(e->dur_ns % NS_PER_SEC / 1000));
}

void calls_add_descriptor(
	struct strbuf *out, const struct trace_descriptor *d, const char *observer)
{
	add_time(out, d->time_ns, observer);
	strbuf_printf(out, "%d ", d->pid);
	if (d->change == TRACE_FD_FORK) {
		strbuf_printf(out, "fork: has the descriptors of %d", d->from);
		return;
	}
	strbuf_printf(out, "%s %d ", trace_change_name(d->change), d->fd);
	if (d->from >= 0)
		strbuf_printf(out, "from %d ", d->from);
	strbuf_printf(out, "%s ", trace_file_name(d->file));
	call_args_escape(out, d->name, strlen(d->name));
}
