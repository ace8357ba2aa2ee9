/* dump_events BACKEND [-p PID]... [-c COMM]... [-g CGROUP] [-t SECONDS] [-s] [-- COMMAND...]
 *
 * Traces with one backend and prints every event as it is delivered, one JSON object a line. -s
 * asks for a summary. Ends when nothing is left to trace, after SECONDS, or at SIGINT or SIGTERM;
 * its last line says how many events were lost and how the command ended.
 */
#include "print_event.h"
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

static int deliver(void *ctx, const struct trace_event *e)
{
	(void)ctx;
	print_event(e);
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
	struct trace_sink sink = {deliver, NULL};
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
