#include "print_event.h"

#include "model/syscalls.h"
#include <stdio.h>

static void print_text(const struct trace_event *e)
{
	for (uint32_t i = 0; i < e->text_len; i++)
		printf("%02x", (unsigned char)e->text[i]);
}

static const char *name_of(const struct trace_event *e, char buf[SYSCALL_NAME_MAX])
{
	const struct syscall_info *info;

	if (e->what == TRACE_SIGNAL || e->what == TRACE_EXIT)
		return signal_name(e->nr, buf);
	if (e->what != TRACE_CALL && e->what != TRACE_PENDING && e->what != TRACE_ASYNC)
		return "";
	info = e->flags & TRACE_COMPAT ? syscall_get_compat(e->nr) : syscall_get(e->nr);
	return info ? info->name : "?";
}

void print_event(const struct trace_event *e)
{
	char buf[SYSCALL_NAME_MAX];

	printf("{\"what\":\"%s\",\"seq\":%llu,\"start\":%lld,\"dur\":%lld,\"pid\":%d,\"tid\":%d,"
	       "\"nr\":%u,\"name\":\"%s\",\"flags\":%u,\"file\":\"%s\",\"ret\":%lld,\"args\":[",
		trace_what_name(e->what), (unsigned long long)e->seq, (long long)e->start_ns,
		(long long)e->dur_ns, e->pid, e->tid, e->nr, name_of(e, buf), e->flags,
		trace_file_name(e->file), (long long)e->ret);
	for (int i = 0; i < TRACE_ARGS; i++)
		printf("%s%llu", i ? "," : "", (unsigned long long)e->args[i]);
	printf("],\"text\":\"");
	print_text(e);
	puts("\"}");
}
