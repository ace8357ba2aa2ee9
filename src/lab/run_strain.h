/* How much the parts of a lab had to wait: processes for CPUs, and disks for their own deadlines.
 *
 * A sleeping process is woken in time even if all CPUs are in use, if the kernel favours sleepers;
 * a busy process gets only its share of a CPU. So in addition to the lateness of watch.h, which
 * shows a machine that stands still, this measures how long the processes of the file system were
 * ready but not running. */
#ifndef LAB_RUN_STRAIN_H
#define LAB_RUN_STRAIN_H

#include "lab/lab.h"

/* If processes wait several times as long as they run, the results depend on the machine. Measured
 * on two cores with labs of six servers and six clients: in one lab that writes, they wait about as
 * long as they run. In two labs (85% of the CPUs used) they wait 2.4 to 3.7 times as long, or 5.0
 * times with a network hog in each; clients still transfer as many bytes (33 MB/s in each lab), and
 * disks are 0.4 to 0.6 ms late. With a third lab it was 6.7 times, a tenth fewer bytes, and disks
 * were 0.9 ms late. The limit is in between. */
#define STRAIN_CPU_WAIT_MAX 6.0

struct strain_node {
	uint64_t ran_ns, waited_ns; /* of the server or client process of the file system */
	uint64_t requests, late_us; /* of the disk of a server */
};

/* All counters of every node. */
struct strain {
	unsigned n;
	struct strain_node nodes[LAB_NODES_MAX];
};

void strain_read(const struct lab *lab, struct strain *ret);

/* Time waiting for a CPU divided by time on one; the median over all nodes, so that a fault of one
 * server does not count. 0 if the kernel does not report it. */
double strain_cpu_wait(const struct strain *before, const struct strain *after);

/* The mean lateness of a request, of the latest disk. */
double strain_disk_late_ms(const struct strain *before, const struct strain *after);

#endif
