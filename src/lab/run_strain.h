/* How much what a lab is made of had to wait: for CPUs, and disks for their own deadlines.
 *
 * A sleeping process is woken in time on a machine whose CPUs are all in use, if the kernel is kind
 * to sleepers; one that has work to do gets its share of a CPU and no more. So besides the watch's
 * lateness, which tells of a machine that stands still, this asks the file system's processes how
 * long they were ready and not running. */
#ifndef LAB_RUN_STRAIN_H
#define LAB_RUN_STRAIN_H

#include "lab/lab.h"

/* They wait longer than they run, several times over: whatever is measured is the machine's.
 * Measured on two cores with labs of six servers and six clients that write: one alone waits about
 * as long as it runs; two side by side (85% of the CPUs used) 3.2 to 3.5 times as long, and move as
 * much as one alone (33 MB/s each), with disks 0.4 ms late; one beside twenty processes that always
 * want a CPU, 5 times as long. The limit is between what does no harm and what does. */
#define STRAIN_CPU_WAIT_MAX 4.5

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
 * count. 0 where the kernel does not tell. */
double strain_cpu_wait(const struct strain *before, const struct strain *after);

/* How late a request was at the disk that was latest, on average. */
double strain_disk_late_ms(const struct strain *before, const struct strain *after);

#endif
