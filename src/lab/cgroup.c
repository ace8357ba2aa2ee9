#include "lab/cgroup.h"

#include <stdio.h>
#include <string.h>

#define V1_CPU "/sys/fs/cgroup/cpu/"
#define V1_CPUACCT "/sys/fs/cgroup/cpuacct/"

bool cgroup_cpuacct(const char *cgroup, char *buf, size_t size)
{
	size_t len = strlen(V1_CPU);

	if (strncmp(cgroup, V1_CPU, len) != 0)
		return false;
	snprintf(buf, size, V1_CPUACCT "%s", cgroup + len);
	return true;
}
