#include "trace/ports.h"

#include "base/cleanup.h"
#include "trace/targets.h"
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define STATE_LISTEN 0x0a
#define SPACES_MAX 64

struct finder {
	const char *proc;
	bool live; /* the running system, not the directory of a test */
	uint16_t *ports;
	unsigned n, max;
	ino_t spaces[SPACES_MAX]; /* examined network namespaces */
	unsigned n_spaces;
};

static void add_port(struct finder *f, uint16_t port)
{
	for (unsigned i = 0; i < f->n; i++) {
		if (f->ports[i] == port)
			return;
	}
	if (port && f->n < f->max)
		f->ports[f->n++] = port;
}

/* A table like /proc/net/tcp: "sl local_address rem_address st ...", numbers in hex. */
static void read_table(struct finder *f, const char *pid, const char *table)
{
	char path[PATH_MAX], line[512];
	_cleanup_fclose_ FILE *in = NULL;

	snprintf(path, sizeof(path), "%s/%s/net/%s", f->proc, pid, table);
	in = fopen(path, "re");
	while (in && fgets(line, sizeof(line), in)) {
		char *local = strchr(line, ':'), *end;
		char *colon = local ? strchr(local + 1, ':') : NULL;
		char *remote = colon ? strchr(colon + 1, ':') : NULL;
		char *state = remote ? strchr(remote, ' ') : NULL;

		if (state && strtoul(state, &end, 16) == STATE_LISTEN && end != state)
			add_port(f, (uint16_t)strtoul(colon + 1, NULL, 16));
	}
}

/* Is a network namespace new? Remember it. */
static bool add_space(struct finder *f, ino_t space)
{
	for (unsigned i = 0; i < f->n_spaces; i++) {
		if (f->spaces[i] == space)
			return false;
	}
	if (f->n_spaces < SPACES_MAX)
		f->spaces[f->n_spaces++] = space;
	return true;
}

static void look_into(struct finder *f, const char *pid)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s/ns/net", f->proc, pid);
	if (stat(path, &st) == 0 && !add_space(f, st.st_ino))
		return;
	read_table(f, pid, "tcp");
	read_table(f, pid, "tcp6");
}

static bool is_named(const struct finder *f, const char *pid, const struct trace_targets *targets)
{
	char path[PATH_MAX], comm[64] = "";
	_cleanup_fclose_ FILE *in = NULL;

	snprintf(path, sizeof(path), "%s/%s/comm", f->proc, pid);
	in = fopen(path, "re");
	if (!in || !fgets(comm, sizeof(comm), in))
		return false;
	comm[strcspn(comm, "\n")] = '\0';
	for (unsigned i = 0; i < targets->n_comms; i++) {
		if (!strcmp(targets->comms[i], comm))
			return !f->live ||
				target_match(targets, (pid_t)strtol(pid, NULL, 10)) ==
				TARGET_WANTED;
	}
	return false;
}

static void look_by_name(struct finder *f, const struct trace_targets *targets)
{
	_cleanup_closedir_ DIR *dir = opendir(f->proc);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
			is_named(f, entry->d_name, targets))
			look_into(f, entry->d_name);
	}
}

static void look_by_group(struct finder *f, const char *cgroup)
{
	char path[PATH_MAX], line[32];
	_cleanup_fclose_ FILE *in = NULL;

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	in = fopen(path, "re");
	while (in && fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\n")] = '\0';
		look_into(f, line);
	}
}

unsigned trace_ports_find(
	const char *proc, const struct trace_targets *targets, uint16_t *ret, unsigned max)
{
	struct finder f = {.proc = proc, .live = !strcmp(proc, "/proc"), .max = max};
	char pid[16];

	f.ports = ret;
	for (unsigned i = 0; i < targets->n_pids; i++) {
		snprintf(pid, sizeof(pid), "%d", (int)targets->pids[i]);
		look_into(&f, pid);
	}
	if (targets->n_comms)
		look_by_name(&f, targets);
	if (targets->cgroup)
		look_by_group(&f, targets->cgroup);
	if (targets->command)
		look_into(&f, "self");
	return f.n;
}
