#include "trace/netns.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

bool netns_of(const char *proc, int pid, uint64_t *ret)
{
	char path[PATH_MAX];
	struct stat st;

	if (pid)
		snprintf(path, sizeof(path), "%s/%d/ns/net", proc, pid);
	else
		snprintf(path, sizeof(path), "%s/self/ns/net", proc);
	if (stat(path, &st) < 0)
		return false;
	*ret = st.st_ino;
	return true;
}

bool netns_holds(const char *proc, uint64_t netns, int pid)
{
	uint64_t own;

	return !netns || (netns_of(proc, pid, &own) && own == netns);
}
