/* How much the parts of a lab had to wait: processes for CPUs, and disks for their own deadlines.
 *
 * A sleeping process is woken in time even if all CPUs are in use, if the kernel favours sleepers;
 * one that has work to do gets only its share of a CPU. So besides the watch's lateness, which
 * shows a machine that stands still, this measures how long the file system's processes were ready
 * and not running. */
#ifndef LAB_RUN_STRAIN_H
#define LAB_RUN_STRAIN_H

#include "lab/lab.h"

/* They wait several times as long as they run: then measurements show the machine. Measured on two
 * cores with labs of six servers and six clients: one that writes waits about as long as it runs.
 * Two side by side (85% of the CPUs used) wait 2.4 to 3.7 times as long, 5.0 with a network hog in
 * each, and clients still move as many bytes (33 MB/s in each lab) while disks are 0.4 to 0.6 ms
 * late. With a third lab it was 6.7, a tenth fewer bytes, and disks 0.9 ms late. The limit is
 * between the harmless and the harmful. */
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

/* Time waiting for a CPU divided by time on one; the median node's, so that a fault of one server
 * does not count. 0 if the kernel does not report it. */
double strain_cpu_wait(const struct strain *before, const struct strain *after);

/* The average lateness of a request at the latest disk. */
double strain_disk_late_ms(const struct strain *before, const struct strain *after);

#endif
