/* Traces of experiments: `limpet trace syscalls` in addition to each recorder. */
#include "lab/run_state.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "lab/hog.h"
#include "lab/tool.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOOK_MS 100
#define LOOKS_MAX 600
#define LOG_MAX (1 << 20)
/* The tracer prints this when it is attached and records everything from then on. */
#define ATTACHED "tracing "

static int trace_one(const struct plan_run *run, const struct lab_node *node, enum plan_trace mode,
	const char *dir, struct lp_err *err)
{
	char log[LAB_PATH_MAX], pid_file[LAB_PATH_MAX], path[LAB_PATH_MAX], fs[12], work[12];
	const char *argv[] = {run->limpet, "trace", "syscalls", "-o", dir, "-n", node->name,
		mode == PLAN_TRACE_RECORDS ? "--records" : "--summary", "-p", fs, "-p", work, NULL};
	struct spawn s = {.netns = node->netns,
		.log = lab_path(&run->lab, log, "log/%s-trace.log", node->name),
		.pid_file = lab_path(&run->lab, pid_file, "run/%s-trace.pid", node->name),
		.argv = argv};

	snprintf(fs, sizeof(fs), "%d",
		(int)tool_pid(lab_path(&run->lab, path, "run/%s-fs.pid", node->name)));
	snprintf(work, sizeof(work), "%d",
		(int)tool_pid(lab_path(&run->lab, path, "run/%s-work.pid", node->name)));
	if (node->role == LAB_SERVER)
		argv[10] = NULL; /* no workload on servers */
	unlink(log);		 /* output of an earlier tracer */
	return tool_spawn(&s, NULL, err);
}

static bool is_traced(const struct plan_run *run, const struct lab_node *node)
{
	char path[LAB_PATH_MAX];

	return node->role == LAB_OTHER ||
		tool_pid(lab_path(&run->lab, path, "run/%s-trace.pid", node->name));
}

static bool has_begun(const struct plan_run *run, const struct lab_node *node)
{
	_cleanup_free_ char *text = NULL;
	char log[LAB_PATH_MAX];
	size_t size;

	lab_path(&run->lab, log, "log/%s-trace.log", node->name);
	return file_slurp(log, LOG_MAX, &text, &size, NULL) == 0 && strstr(text, ATTACHED);
}

/* Has each tracer attached, or ended? */
static bool all_have_begun(const struct plan_run *run)
{
	for (unsigned i = 0; i < run->lab.n_nodes; i++) {
		const struct lab_node *node = &run->lab.nodes[i];

		if (node->role != LAB_OTHER && is_traced(run, node) && !has_begun(run, node))
			return false;
	}
	return true;
}

int run_trace_start(
	const struct plan_run *run, enum plan_trace mode, const char *dir, struct lp_err *err)
{
	for (unsigned i = 0; i < run->lab.n_nodes; i++) {
		const struct lab_node *node = &run->lab.nodes[i];
		int r = node->role == LAB_OTHER ? 0 : trace_one(run, node, mode, dir, err);

		if (r < 0)
			return lp_err_prefix(err, "cannot trace %s", node->name);
	}
	for (unsigned i = 0; i < LOOKS_MAX && !all_have_begun(run); i++)
		hog_wait(LOOK_MS);
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

int run_trace_verify(const struct plan_run *run, const struct experiment *e, struct lp_err *err)
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

int run_trace_stop(const struct plan_run *run, struct lp_err *err)
{
	return run_stop_all(run, "trace", err);
}
