/* dump_events BACKEND [-p PID]... [-c COMM]... [-g CGROUP] [-t SECONDS] [-s] [-- COMMAND...]
 *
 * Traces with one backend and prints every event as it is delivered, one JSON object a line. -s
 * asks for a summary. Ends when nothing is left to trace, after SECONDS, or at SIGINT or SIGTERM;
 * its last line says how many events were lost and how the command ended.
 */
#include "trace/backend.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stopped;

static void on_stop(int sig)
{
	(void)sig;
	stopped = 1;
}

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

static int print_event(void *ctx, const struct trace_event *e)
{
	char buf[SYSCALL_NAME_MAX];

	(void)ctx;
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
	return 0;
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int run(const struct trace_backend *backend, const struct trace_config *config, int seconds)
{
	struct trace_sink sink = {print_event, NULL};
	struct lp_err err = {0};
	int64_t until = now_ms() + seconds * INT64_C(1000);
	void *state = NULL;
	int r = backend->open(config, &sink, &state, &err);

	if (r < 0) {
		fprintf(stderr, "dump_events: %s\n", err.text);
		return 1;
	}
	fprintf(stderr, "attached\n");
	while (r == 0 && !stopped && (!seconds || now_ms() < until))
		r = backend->poll(state, 200, &err);
	if (r >= 0 && backend->pending)
		r = backend->pending(state, INT64_C(500000000), &err);
	printf("{\"what\":\"end\",\"lost\":%llu,\"status\":%d,\"result\":%d}\n",
		(unsigned long long)backend->lost(state), backend->command_status(state), r);
	backend->close(state);
	if (r < 0)
		fprintf(stderr, "dump_events: %s\n", err.text);
	return r < 0;
}

int main(int argc, char **argv)
{
	const struct trace_backend *backend = argc > 1 ? trace_backend_find(argv[1]) : NULL;
	struct trace_config config = {.records = true, .slow_ns = 1000000000};
	const char *comms[16];
	pid_t pids[16];
	int seconds = 0, option;

	if (!backend) {
		fprintf(stderr, "dump_events: which backend?\n");
		return 2;
	}
	config.targets.pids = pids;
	config.targets.comms = comms;
	optind = 2;
	while ((option = getopt(argc, argv, "+p:c:g:t:s")) != -1) {
		if (option == 'p' && config.targets.n_pids < 16)
			pids[config.targets.n_pids++] = (pid_t)strtol(optarg, NULL, 10);
		else if (option == 'c' && config.targets.n_comms < 16)
			comms[config.targets.n_comms++] = optarg;
		else if (option == 'g')
			config.targets.cgroup = optarg;
		else if (option == 't')
			seconds = (int)strtol(optarg, NULL, 10);
		else if (option == 's')
			config.records = false;
		else
			return 2;
	}
	if (optind < argc)
		config.targets.command = argv + optind;
	signal(SIGINT, on_stop);
	signal(SIGTERM, on_stop);
	return run(backend, &config, seconds);
}
