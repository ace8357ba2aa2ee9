/* dump_log ARCHIVE [-n]
 *
 * Prints the logs of a trace, one JSON object a line: events as dump_events does, and changes of
 * descriptors ("what": "descriptor"). -n: only how many there are of each kind.
 */
#include "archive/trace_log.h"
#include "model/syscalls.h"
#include "print_event.h"

#include <stdio.h>
#include <string.h>

static uint64_t calls[SYSCALL_MAX], whats[16], changes[16], lost, failed;
static bool only_numbers;

static int take_event(void *ctx, uint64_t record, const struct trace_event *e)
{
	(void)ctx;
	(void)record;
	if (!only_numbers)
		print_event(e);
	whats[e->what % 16]++;
	if (e->what == TRACE_LOST)
		lost += (uint64_t)e->ret;
	if (e->what == TRACE_CALL)
		calls[e->nr % SYSCALL_MAX]++;
	failed += trace_event_errno(e) != 0;
	return 0;
}

static int take_descriptor(void *ctx, uint64_t record, const struct trace_descriptor *d)
{
	(void)ctx;
	(void)record;
	changes[d->change % 16]++;
	if (!only_numbers)
		printf("{\"what\":\"descriptor\",\"seq\":%llu,\"pid\":%d,\"fd\":%d,\"from\":%d,"
		       "\"change\":\"%s\",\"file\":\"%s\",\"name\":\"%s\"}\n",
			(unsigned long long)d->seq, d->pid, d->fd, d->from,
			trace_change_name(d->change), trace_file_name(d->file),
			d->name ? d->name : "");
	return 0;
}

static void print_numbers(void)
{
	printf("{\"what\":\"end\",\"lost\":%llu,\"failed\":%llu", (unsigned long long)lost,
		(unsigned long long)failed);
	for (unsigned i = 0; i < 16; i++) {
		if (whats[i])
			printf(",\"%ss\":%llu", trace_what_name(i), (unsigned long long)whats[i]);
		if (changes[i])
			printf(",\"fd-%s\":%llu", trace_change_name(i),
				(unsigned long long)changes[i]);
	}
	for (unsigned i = 0; i < SYSCALL_MAX; i++) {
		if (calls[i] && syscall_get(i))
			printf(",\"sys-%s\":%llu", syscall_get(i)->name,
				(unsigned long long)calls[i]);
	}
	puts("}");
}

int main(int argc, char **argv)
{
	const struct trace_log_reader reader = {.event = take_event, .descriptor = take_descriptor};
	struct lp_source *source = NULL;
	struct lp_err err = {0};
	int r;

	only_numbers = argc == 3 && !strcmp(argv[2], "-n");
	if (argc < 2)
		return 2;
	r = lp_archive_open(argv[1], NULL, NULL, &source, &err);
	if (r == 0)
		r = trace_log_read(source, &reader, &err);
	if (r < 0)
		fprintf(stderr, "dump_log: %s\n", err.text);
	else
		print_numbers();
	lp_source_close(source);
	return r < 0;
}
