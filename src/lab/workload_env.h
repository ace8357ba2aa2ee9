/* The environment of a workload's script, and its progress. */
#ifndef LAB_WORKLOAD_ENV_H
#define LAB_WORKLOAD_ENV_H

#include "lab/workload.h"

#define WORKLOAD_ENV_MAX 16

/* "NAME=VALUE", NULL-terminated. Zero-initialise it. */
struct workload_env {
	char *items[WORKLOAD_ENV_MAX];
	unsigned n;
	bool failed;
};

/* Make the variables of the client with this index (from 0): see workloads/library.sh. */
int workload_env_make(const struct lab *lab, unsigned client, struct workload_env *ret);
void workload_env_release(struct workload_env *e);

/* workloads/library.sh, which is put before every script, and workloads/again.sh. */
extern const char workload_library[], workload_again[];

/* The script of a workload: the library, the workload's own script and `what` to do, "work_prepare"
 * or "work_passes". NULL: out of memory. */
char *workload_script(const struct workload *w, const char *what);

/* The total size of a client's large files: as much as fits on all servers, in whole rounds of one
 * piece of 4 MB per server. */
uint64_t workload_mib(const struct lab_config *c);

/* Parse the received and sent bytes of eth0 in the text of /proc/net/dev. -EBADMSG if it is
 * missing. */
int workload_parse_bytes(const char *net_dev, uint64_t *ret_bytes);

#endif
