/* How much what a lab is made of had to wait: for CPUs, and disks for their own deadlines.
 *
 * A sleeping process is woken in time on a machine whose CPUs are all in use, if the kernel is kind
 * to sleepers; one that has work to do gets its share of a CPU and no more. So besides the watch's
 * lateness, which shows a machine that stands still, this asks the file system's processes how
 * long they were ready and not running. */
#ifndef LAB_RUN_STRAIN_H
#define LAB_RUN_STRAIN_H

#include "lab/lab.h"

/* They wait longer than they run, several times over: whatever is measured is the machine's.
 * Measured on two cores with labs of six servers and six clients: one that writes waits about as
 * long as it runs. Two side by side (85% of the CPUs used) wait 2.4 to 3.7 times as long, 5.0 with
 * a network hog in each, and clients move as many bytes as ever (33 MB/s in each lab) while disks
 * are 0.4 to 0.6 ms late. With a third lab beside them it was 6.7, a tenth fewer bytes, and disks
 * 0.9 ms late. The limit is between what does no harm and what does. */
#define STRAIN_CPU_WAIT_MAX 6.0

struct strain_node {
	uint64_t ran_ns, waited_ns; /* of the file system's server or client */
	uint64_t requests, late_us; /* of a server's disk */
};

/* All counters so far, of every node. */
struct strain {
	unsigned n;
	struct strain_node nodes[LAB_NODES_MAX];
};

void strain_read(const struct lab *lab, struct strain *ret);

/* Time waiting for a CPU by time on one; the median node's, so that a fault of one server does not
 * count. 0 where the kernel does not say. */
double strain_cpu_wait(const struct strain *before, const struct strain *after);

/* How late a request was at the disk that was latest, on average. */
double strain_disk_late_ms(const struct strain *before, const struct strain *after);

#endif
