/* CPU control groups: one a server, so that its share of the CPU has an upper bound and is
 * measured.
 *
 * lab_node.cgroup is the path of the group in the hierarchy "cpu". With cgroup version 1 there is a
 * second group of the same name in the hierarchy "cpuacct", which counts; cgroup_cpuacct() finds
 * it. With version 2, and where both controllers share a hierarchy, one group does both. */
#ifndef LAB_CGROUP_H
#define LAB_CGROUP_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stddef.h>

/* The path of the group that counts the CPU time of `cgroup` ("/sys/fs/cgroup/cpu/X" becomes
 * "/sys/fs/cgroup/cpuacct/X"). False if that is `cgroup` itself. */
bool cgroup_cpuacct(const char *cgroup, char *buf, size_t size);

#endif
