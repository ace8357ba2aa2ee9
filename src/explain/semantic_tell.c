#include "explain/semantic_tell.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "explain/semantic_normal.h"
#include "model/quantity.h"
#include "model/traced_call.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Nobody reads more notes than this. */
#define NOTES_MAX 12

/* "PID" stands for the number of the process. */
static const struct {
	int error;
	const char *advice;
} error_advice[] = {
	{EMFILE,
		"the process has reached its limit of open files. Compare 'prlimit --nofile -p "
		"PID' "
		"with 'ls /proc/PID/fd | wc -l'. Raise the limit (LimitNOFILE= in its unit, ulimit "
		"-n), or find what it does not close."},
	{ENFILE,
		"the machine has reached its limit of open files. Look at /proc/sys/fs/file-nr and "
		"raise fs.file-max (sysctl)."},
	{ENOSPC,
		"its file system is full. 'df' shows space, 'df -i' inodes. Make room, or enlarge "
		"it."},
	{EDQUOT, "a quota is used up. 'quota' or 'repquota -a' shows whose."},
	{EROFS,
		"its file system is read-only. 'mount' shows which one, 'dmesg' why (after errors "
		"the kernel remounts it so). Repair the disk or the file system before you remount "
		"it."},
	{EIO, "its disk returns errors. Look at 'dmesg' and 'smartctl -a'."},
	{EFBIG,
		"a file has reached the size limit. Look at 'prlimit --fsize -p PID' (LimitFSIZE= "
		"in its unit, ulimit -f), and at the largest file that its file system allows."},
	{ENOMEM,
		"it gets no more memory. Look at its limits ('prlimit --as --data -p PID', ulimit "
		"-v, memory.max of its control group) and at 'free'."},
	{ENOBUFS, "the kernel has no memory left for its sockets. Look at 'ss -m' and net.*mem*."},
};

static const struct {
	int signal;
	const char *advice;
} signal_advice[] = {
	{SIGXFSZ,
		"a file reached the size limit. Raise it (ulimit -f, LimitFSIZE= in its unit) "
		"before you start it again."},
	{SIGKILL,
		"something killed it. Was it the kernel, out of memory ('dmesg', 'journalctl "
		"-k')?"},
	{SIGXCPU,
		"it used up its CPU time limit. Raise it (ulimit -t, LimitCPU=) before you start "
		"it "
		"again."},
	{SIGBUS,
		"a mapped file shrank, or the disk failed. Look at 'dmesg', then at its core "
		"('coredumpctl info')."},
};

struct semantic_finding *tell_accuse(struct semantic *s, struct lp_identity *component,
	const struct cause *cause, double confidence)
{
	struct semantic_finding *f;

	if (!component ||
		array_reserve(&s->findings, &s->cap, (size_t)s->n + 1, sizeof(*s->findings)) < 0) {
		lp_identity_unref(component);
		return NULL;
	}
	f = &s->findings[s->n++];
	*f = (struct semantic_finding){
		.component = component, .cause = cause->name, .confidence = confidence, .n = 1};
	return f;
}

static int take(char ***list, uint32_t *n, size_t *cap, struct strbuf *sb)
{
	char *text = strbuf_take(sb);

	if (!text || array_reserve(list, cap, (size_t)*n + 1, sizeof(char *)) < 0) {
		free(text);
		return -ENOMEM;
	}
	(*list)[(*n)++] = text;
	return 0;
}

int tell_sentence(struct semantic_finding *f, struct strbuf *sb)
{
	return take(&f->evidence, &f->n_evidence, &f->cap_evidence, sb);
}

int tell_note(struct semantic *s, struct strbuf *sb)
{
	if (s->n_notes < NOTES_MAX)
		return take(&s->notes, &s->n_notes, &s->cap_notes, sb);
	strbuf_reset(sb);
	return 0;
}

void tell_extend(struct semantic_finding *f, int64_t first_ns, int64_t last_ns)
{
	if (!f->first_us || first_ns / 1000 < f->first_us)
		f->first_us = first_ns / 1000;
	if (last_ns / 1000 > f->last_us)
		f->last_us = last_ns / 1000;
}

struct lp_identity *tell_component(
	const struct traces *t, uint32_t host, uint32_t program, uint16_t port)
{
	char number[16];

	if (program == TRACES_NONE)
		program = traces_server(t, host, port);
	snprintf(number, sizeof(number), "%u", port);
	return lp_identity_new(t->hosts[host].name, "sys",
		program != TRACES_NONE ? t->programs[program].comm : number, NULL);
}

void tell_time(struct strbuf *sb, int64_t at_ns)
{
	char text[TIME_TEXT_MAX];

	strbuf_puts(sb, time_format(floor_div(at_ns, 1000000) * 1000, text));
}

void tell_process(struct strbuf *sb, const struct traces *t, uint32_t process)
{
	const struct traced_process *p = &t->processes[process];

	strbuf_printf(sb, "%s (pid %" PRId32 ") on %s", t->programs[p->program].comm, p->pid,
		t->hosts[p->host].name);
}

static void add_call(struct strbuf *sb, const struct syscall_info *info, uint16_t nr,
	const char *where, const char *name, int32_t fd)
{
	if (info)
		strbuf_puts(sb, info->name);
	else
		strbuf_printf(sb, "call %u", nr);
	if (name)
		strbuf_printf(sb, " %s %s", where, name);
	else if (fd >= 0)
		strbuf_printf(sb, " %s descriptor %" PRId32, where, fd);
}

static const struct syscall_info *call_info(uint16_t nr, bool compat)
{
	return compat ? syscall_get_compat(nr) : syscall_get(nr);
}

void tell_call(struct strbuf *sb, uint16_t nr, bool compat, const char *name, int32_t fd)
{
	add_call(sb, call_info(nr, compat), nr, "on", name, fd);
}

void tell_call_to(struct strbuf *sb, uint16_t nr, bool compat, const char *name, int32_t fd)
{
	const struct syscall_info *info = call_info(nr, compat);
	const char *where = !info		 ? "on"
		: info->call == TRACE_CALL_WRITE ? "to"
		: info->call == TRACE_CALL_READ	 ? "from"
						 : "on";

	add_call(sb, info, nr, where, name, fd);
}

void tell_failure(struct strbuf *sb, const struct traces *t, const struct traced_failure *f)
{
	char buf[SYSCALL_NAME_MAX];

	tell_process(sb, t, f->process);
	strbuf_puts(sb, ": ");
	tell_call(sb, f->nr, f->compat, f->name, f->fd);
	if (f->eof)
		strbuf_puts(sb, " found the connection closed at ");
	else
		strbuf_printf(sb, " failed with %s at ", errno_name(f->error, buf));
	tell_time(sb, f->first_ns);
}

void tell_slow(struct strbuf *sb, const struct traces *t, const struct traced_slow *s)
{
	char span[QUANTITY_TEXT_MAX];

	if (s->tid != t->processes[s->process].pid)
		strbuf_printf(sb, "thread %" PRId32 " of ", s->tid);
	tell_process(sb, t, s->process);
	strbuf_puts(sb, s->pending ? " has been in " : " was in ");
	tell_call(sb, s->nr, s->compat, s->name, s->fd);
	strbuf_puts(sb, s->pending ? " since " : " from ");
	tell_time(sb, s->start_ns);
	strbuf_printf(sb, s->pending ? " and did not come back (%s)" : " on (%s)",
		quantity_format_span(s->dur_ns / 1000, span));
}

/* A call of a process, for the list of a finding. */
struct behind {
	uint32_t process;
	int64_t at_ns;
	uint16_t nr;
	bool compat;
	const char *name; /* of its file */
	int32_t fd;
	const char *result;
	double duration_s;
};

static int call_add(struct semantic_finding *f, const struct traces *t, const struct behind *b)
{
	const struct traced_process *p = &t->processes[b->process];
	const struct syscall_info *info = call_info(b->nr, b->compat);
	char number[32], descriptor[32];
	struct lp_traced_call c = {.at_us = floor_div(b->at_ns, 1000),
		.observer = t->hosts[p->host].name,
		.process = t->programs[p->program].comm,
		.pid = p->pid,
		.call = number,
		.file = (char *)b->name,
		.result = (char *)b->result,
		.duration_s = b->duration_s};

	if (info)
		snprintf(number, sizeof(number), "%s", info->name);
	else
		snprintf(number, sizeof(number), "call %u", b->nr);
	snprintf(descriptor, sizeof(descriptor), "descriptor %" PRId32, b->fd);
	if (!b->name && b->fd >= 0)
		c.file = descriptor;
	return traced_calls_add(&f->calls, &f->n_calls, &c);
}

int tell_failed_call(
	struct semantic_finding *f, const struct traces *t, const struct traced_failure *call)
{
	char buf[SYSCALL_NAME_MAX];
	const struct behind b = {.process = call->process,
		.at_ns = call->first_ns,
		.nr = call->nr,
		.compat = call->compat,
		.name = call->name,
		.fd = call->fd,
		.result = call->eof ? "connection closed" : errno_name(call->error, buf),
		.duration_s = (double)NAN};

	return call_add(f, t, &b);
}

int tell_slow_call(
	struct semantic_finding *f, const struct traces *t, const struct traced_slow *call)
{
	const struct behind b = {.process = call->process,
		.at_ns = call->pending ? call->start_ns : call->start_ns + call->dur_ns,
		.nr = call->nr,
		.compat = call->compat,
		.name = call->name,
		.fd = call->fd,
		.result = call->pending ? "not returned" : "returned",
		.duration_s = (double)call->dur_ns / 1e9};

	return call_add(f, t, &b);
}

static const char *find_advice(int error, int signal)
{
	/* A signal that names the limit is more precise than the call. */
	for (size_t i = 0; signal && i < ARRAY_SIZE(signal_advice); i++) {
		if (signal_advice[i].signal == signal && (signal == SIGXFSZ || !error))
			return signal_advice[i].advice;
	}
	for (size_t i = 0; error && i < ARRAY_SIZE(error_advice); i++) {
		if (error_advice[i].error == error)
			return error_advice[i].advice;
	}
	return NULL;
}

char *tell_advice(
	const struct traces *t, uint32_t process, int error, int signal, const struct cause *cause)
{
	const char *advice = find_advice(error, signal);
	struct strbuf sb = {0};

	if (!advice || process == TRACES_NONE)
		return strdup(cause->advice);
	strbuf_printf(&sb, "On %s, process %" PRId32 ": ",
		t->hosts[t->processes[process].host].name, t->processes[process].pid);
	for (const char *at; (at = strstr(advice, "PID")); advice = at + strlen("PID")) {
		strbuf_add(&sb, advice, (size_t)(at - advice));
		strbuf_printf(&sb, "%" PRId32, t->processes[process].pid);
	}
	strbuf_puts(&sb, advice);
	return strbuf_take(&sb);
}

uint32_t tell_last_failure(const struct traces *t, const struct semantic_options *options,
	uint32_t process, int64_t from_ns, int64_t to_ns)
{
	uint32_t best = TRACES_NONE;

	for (uint32_t i = 0; i < t->n_failures; i++) {
		const struct traced_failure *f = &t->failures[i];

		if (f->process != process || f->last_ns < from_ns || f->first_ns > to_ns ||
			normal_failure(t, options->trained, f))
			continue;
		if (best == TRACES_NONE || f->first_ns >= t->failures[best].first_ns)
			best = i;
	}
	return best;
}
