/* CPU control groups: one per server, to limit and measure its share of the CPU.
 *
 * lab_node.cgroup is the path of the group in the hierarchy "cpu". With cgroup version 1 there is a
 * second group of the same name in the hierarchy "cpuacct", which counts; cgroup_cpuacct() finds
 * it. With version 2, or if both controllers share a hierarchy, one group does both. */
#ifndef LAB_CGROUP_H
#define LAB_CGROUP_H

#include "lab/lab.h"
#include <stddef.h>

/* Make the group limpet-LAB-NODE and set node->cgroup; "" if this machine has no such groups, or
 * does not permit it; a lab also works without it. */
int cgroup_up(const struct lab *lab, struct lab_node *node, struct lp_err *err);

/* Remove the groups of a lab; processes in them are killed. 0 if there are none. */
int cgroup_down(const char *lab_name, struct lp_err *err);

/* The path of the group that counts the CPU time of `cgroup` ("/sys/fs/cgroup/cpu/X" becomes
 * "/sys/fs/cgroup/cpuacct/X"). False if that is `cgroup` itself. */
bool cgroup_cpuacct(const char *cgroup, char *buf, size_t size);

/* The path of a group named limpet-LAB-* that the lab did not create, or "". */
void cgroup_foreign(const char *lab_name, char *buf, unsigned size);

#endif
