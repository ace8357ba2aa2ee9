/* Traces of experiments: `limpet trace syscalls` beside each recorder. */
#include "lab/run_state.h"

#include "base/cleanup.h"
#include "lab/process.h"
#include "lab/tool.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PIDS_MAX 48
#define OLD_S 1
#define STARTS_MAX 8
#define START_US 300000
#define ARGS_MAX (16 + 2 * PIDS_MAX)

/* Whom to trace on a node. */
struct pids {
	char texts[PIDS_MAX][12];
	unsigned n;
	pid_t session;	 /* of the workload */
	uint64_t before; /* it began before that: struct process.start */
};

static void pids_add(struct pids *p, pid_t pid)
{
	if (pid > 0 && p->n < PIDS_MAX)
		snprintf(p->texts[p->n++], sizeof(p->texts[0]), "%d", (int)pid);
}

/* What the workload has started already, but what will have ended in a moment; the rest is
 * followed. */
static void pids_add_work(const struct process *proc, void *ctx)
{
	struct pids *p = ctx;

	if (proc->session == p->session && proc->pid != p->session && !proc->zombie &&
		proc->start < p->before)
		pids_add(p, proc->pid);
}

/* The clock of processes' starts. */
static uint64_t now_ticks(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return ((uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000) *
		(uint64_t)sysconf(_SC_CLK_TCK) / 1000;
}

static void pids_find(const struct run *run, const struct lab_node *node, struct pids *ret)
{
	char path[LAB_PATH_MAX];

	pids_add(ret, tool_pid(lab_path(&run->lab, path, "run/%s-fs.pid", node->name)));
	ret->session = tool_pid(lab_path(&run->lab, path, "run/%s-work.pid", node->name));
	ret->before = now_ticks() - OLD_S * (uint64_t)sysconf(_SC_CLK_TCK);
	pids_add(ret, ret->session);
	if (ret->session > 0)
		process_each(pids_add_work, ret);
}

static int trace_one(const struct run *run, const struct lab_node *node, enum plan_trace mode,
	const char *dir, struct lp_err *err)
{
	char log[LAB_PATH_MAX], pid_file[LAB_PATH_MAX];
	const char *argv[ARGS_MAX] = {run->self, "trace", "syscalls", "-q", "-o", dir, "-n",
		node->name, mode == PLAN_TRACE_RECORDS ? "--records" : "--summary"};
	unsigned n = 9;
	struct spawn s = {.netns = node->netns,
		.log = lab_path(&run->lab, log, "log/%s-trace.log", node->name),
		.pid_file = lab_path(&run->lab, pid_file, "run/%s-trace.pid", node->name),
		.argv = argv};
	struct pids pids = {0};

	pids_find(run, node, &pids);
	for (unsigned i = 0; i < pids.n; i++) {
		argv[n++] = "-p";
		argv[n++] = pids.texts[i];
	}
	return tool_spawn(&s, NULL, err);
}

static bool is_traced(const struct run *run, const struct lab_node *node)
{
	char path[LAB_PATH_MAX];

	return node->role == LAB_OTHER ||
		tool_pid(lab_path(&run->lab, path, "run/%s-trace.pid", node->name));
}

int run_trace_start(
	const struct run *run, enum plan_trace mode, const char *dir, struct lp_err *err)
{
	bool all = false;

	/* One whose processes end just then does not begin. */
	for (unsigned times = 0; times < STARTS_MAX && !all; times++) {
		all = true;
		for (unsigned i = 0; i < run->lab.n_nodes; i++) {
			const struct lab_node *node = &run->lab.nodes[i];
			int r;

			if (is_traced(run, node))
				continue;
			r = trace_one(run, node, mode, dir, err);
			if (r < 0)
				return lp_err_prefix(err, "cannot trace %s", node->name);
			all = false;
		}
		usleep(START_US);
	}
	return run_trace_verify(run, NULL, err);
}

static bool is_hurt(const struct experiment *e, const struct lab_node *node)
{
	for (unsigned i = 0; e && i < e->n_faults; i++) {
		if (!strcmp(e->faults[i].on, node->name))
			return true;
	}
	return false;
}

int run_trace_verify(const struct run *run, const struct experiment *e, struct lp_err *err)
{
	char log[LAB_PATH_MAX], words[256];

	for (unsigned i = 0; i < run->lab.n_nodes; i++) {
		const struct lab_node *node = &run->lab.nodes[i];

		if (is_traced(run, node) || is_hurt(e, node))
			continue;
		tool_last_words(lab_path(&run->lab, log, "log/%s-trace.log", node->name), words,
			sizeof(words));
		return lp_err_set(err, -EIO, "the tracer of %s has ended: %s", node->name, words);
	}
	return 0;
}

int run_trace_stop(const struct run *run, struct lp_err *err)
{
	return run_stop_all(run, "trace", err);
}
