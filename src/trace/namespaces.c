#include "trace/namespaces.h"

#include "base/array.h"
#include "base/cleanup.h"
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A file of a process in /proc; `pid` 0: of this process. */
static bool look(const char *proc, int pid, const char *name, struct stat *ret)
{
	char path[PATH_MAX];

	if (pid)
		snprintf(path, sizeof(path), "%s/%d/%s", proc, pid, name);
	else
		snprintf(path, sizeof(path), "%s/self/%s", proc, name);
	return stat(path, ret) == 0;
}

bool namespaces_pid_space(const char *proc, int pid, uint64_t *ret)
{
	struct stat st;

	if (!look(proc, pid, "ns/pid", &st))
		return false;
	*ret = st.st_ino;
	return true;
}

/* The last of a line "NSpid:\t812\t7". */
int namespaces_inner_pid(const char *proc, int pid)
{
	_cleanup_fclose_ FILE *f = NULL;
	char path[PATH_MAX], line[256];
	int inner = pid;

	snprintf(path, sizeof(path), "%s/%d/status", proc, pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		char *last = strrchr(line, '\t');

		if (!strncmp(line, "NSpid:", 6) && last)
			inner = (int)strtol(last + 1, NULL, 10);
	}
	return inner;
}

int namespaces_outer_pid(const char *proc, uint64_t space, int inner)
{
	_cleanup_closedir_ DIR *d = opendir(proc);
	const struct dirent *entry;
	uint64_t its;

	while (d && (entry = readdir(d))) {
		int pid = (int)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && namespaces_pid_space(proc, pid, &its) && its == space &&
			namespaces_inner_pid(proc, pid) == inner)
			return pid;
	}
	return 0;
}

bool namespaces_other_files(const char *proc, int pid)
{
	static const char *const names[] = {"ns/mnt", "root"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct stat its, ours;

		if (look(proc, pid, names[i], &its) && look(proc, 0, names[i], &ours) &&
			(its.st_dev != ours.st_dev || its.st_ino != ours.st_ino))
			return true;
	}
	return false;
}
