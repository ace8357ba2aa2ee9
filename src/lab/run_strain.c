/* How much the parts of a lab had to wait: processes for CPUs, and disks for their own
 * deadlines. */
#include "lab/run_strain.h"

#include "base/cleanup.h"
#include "lab/disk_control.h"
#include "lab/tool.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The CPU time of the threads of a process, and the time in which they were ready but not
 * running. */
static void process_read(pid_t pid, uint64_t *ret_ran_ns, uint64_t *ret_waited_ns)
{
	char path[288];
	_cleanup_closedir_ DIR *tasks = NULL;
	struct dirent *entry;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		char line[96], *end;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/task/%.200s/schedstat", (int)pid,
			entry->d_name);
		f = *entry->d_name == '.' ? NULL : fopen(path, "re");
		if (f && fgets(line, sizeof(line), f)) {
			*ret_ran_ns += strtoull(line, &end, 10);
			*ret_waited_ns += strtoull(end, NULL, 10);
		}
		if (f)
			fclose(f);
	}
}

static uint64_t reply_number(const char *reply, const char *key)
{
	const char *at = strstr(reply, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static void disk_read(const struct lab *lab, const struct lab_node *node, struct strain_node *ret)
{
	char path[LAB_PATH_MAX], reply[DISK_LINE_MAX];

	lab_path(lab, path, "%s/disk.ctl", node->name);
	if (disk_control(path, "show", reply, sizeof(reply), NULL) < 0)
		return;
	ret->requests = reply_number(reply, " requests");
	ret->late_us = reply_number(reply, " late_us");
}

void strain_read(const struct lab *lab, struct strain *ret)
{
	*ret = (struct strain){.n = lab->n_nodes};
	for (unsigned i = 0; i < lab->n_nodes; i++) {
		const struct lab_node *node = &lab->nodes[i];
		struct strain_node *s = &ret->nodes[i];
		char path[LAB_PATH_MAX];
		pid_t pid = tool_pid(lab_path(lab, path, "run/%s-fs.pid", node->name));

		if (pid > 0)
			process_read(pid, &s->ran_ns, &s->waited_ns);
		if (node->role == LAB_SERVER)
			disk_read(lab, node, s);
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double strain_cpu_wait(const struct strain *before, const struct strain *after)
{
	double ratios[LAB_NODES_MAX];
	unsigned n = 0;

	for (unsigned i = 0; i < after->n; i++) {
		const struct strain_node *a = &before->nodes[i], *b = &after->nodes[i];

		/* The times of threads that have ended are lost. */
		if (b->ran_ns > a->ran_ns && b->waited_ns >= a->waited_ns)
			ratios[n++] = (double)(b->waited_ns - a->waited_ns) /
				(double)(b->ran_ns - a->ran_ns);
	}
	if (!n)
		return 0;
	qsort(ratios, n, sizeof(*ratios), by_value);
	return n % 2 ? ratios[n / 2] : (ratios[n / 2 - 1] + ratios[n / 2]) / 2;
}

double strain_disk_late_ms(const struct strain *before, const struct strain *after)
{
	double most = 0;

	for (unsigned i = 0; i < after->n; i++) {
		const struct strain_node *a = &before->nodes[i], *b = &after->nodes[i];
		double ms;

		if (b->requests <= a->requests || b->late_us < a->late_us)
			continue;
		ms = (double)(b->late_us - a->late_us) / 1e3 / (double)(b->requests - a->requests);
		most = ms > most ? ms : most;
	}
	return most;
}
