#include "lab/fault.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "lab/rlimit.h"
#include "lab/server.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATM_MAX 256

static const struct limit limit = {"err-vmsize", RLIMIT_AS};

/* The first number of /proc/PID/statm: pages of address space. */
static int size_of(pid_t pid, rlim_t *ret_bytes, struct lp_err *err)
{
	_cleanup_free_ char *text = NULL;
	char path[32];
	size_t size;
	int r;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	r = file_slurp(path, STATM_MAX, &text, &size, err);
	if (r == 0)
		*ret_bytes = strtoull(text, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE);
	return r;
}

static int inject(
	const struct lab *lab, const struct lab_node *on, double strength, struct lp_err *err)
{
	rlim_t bytes = 0;
	pid_t pid = 0;
	int r = server_need(lab, on, &pid, err);

	if (r == 0)
		r = size_of(pid, &bytes, err);
	if (r == 0)
		r = rlimit_lower(&limit, lab, on, bytes + (rlim_t)(strength * (1 << 20)), err);
	return r;
}

static int verify(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	return rlimit_verify(&limit, lab, on, err);
}

static int heal(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	return rlimit_restore(&limit, lab, on, err);
}

extern const struct fault fault_err_vmsize;
const struct fault fault_err_vmsize = {
	.name = "err-vmsize",
	.summary = "its file system's server gets no more memory (RLIMIT_AS)",
	.diagnosis = "crash|propagated-error|server-hung|server-down",
	.fatal = true,
	.fresh = true, /* one that has worked has all the memory it needs, and asks for no more */
	.strength = "MB more than it has",
	.strength_default = 0,
	.strength_min = 0,
	.strength_max = 1000000,
	.inject = inject,
	.verify = verify,
	.heal = heal,
};
