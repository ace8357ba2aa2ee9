#include "lab/fault.h"

#include "base/array.h"
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

/* Limits the address space, and its writable part. Without the second limit, a heap that already
 * has its addresses could grow for a long time. */
static const struct {
	struct limit limit;
	unsigned field; /* of /proc/PID/statm */
} sizes[] = {
	{{"err-vmsize", RLIMIT_AS}, 0},
	{{"err-vmsize-data", RLIMIT_DATA}, 5},
};

static int size_of(pid_t pid, unsigned field, rlim_t *ret_bytes, struct lp_err *err)
{
	_cleanup_free_ char *text = NULL;
	char path[32], *at;
	size_t size;
	int r;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	r = file_slurp(path, STATM_MAX, &text, &size, err);
	if (r < 0)
		return r;
	at = text;
	for (unsigned i = 0; i < field; i++)
		strtoull(at, &at, 10);
	*ret_bytes = strtoull(at, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE);
	return 0;
}

static int inject(
	const struct lab *lab, const struct lab_node *on, double strength, struct lp_err *err)
{
	rlim_t more = (rlim_t)(strength * (1 << 20)), bytes = 0;
	pid_t pid = 0;
	int r = server_need(lab, on, &pid, err);

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(sizes); i++) {
		r = size_of(pid, sizes[i].field, &bytes, err);
		if (r == 0)
			r = rlimit_lower(&sizes[i].limit, lab, on, bytes + more, err);
	}
	return r;
}

static int verify(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(sizes); i++)
		r = rlimit_verify(&sizes[i].limit, lab, on, err);
	return r;
}

static int heal(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(sizes); i++)
		r = rlimit_restore(&sizes[i].limit, lab, on, err);
	return r;
}

extern const struct fault fault_err_vmsize;
const struct fault fault_err_vmsize = {
	.name = "err-vmsize",
	.summary = "its file system's server gets no more memory (RLIMIT_AS, RLIMIT_DATA)",
	.diagnosis = "crash|propagated-error|server-hung|server-down|resource-exhausted",
	.fatal = true,
	.fresh = true, /* a server that has worked has all its memory, and needs no more */
	.strength = "MB more than it has",
	.strength_default = 0,
	.strength_min = 0,
	.strength_max = 1000000,
	.inject = inject,
	.verify = verify,
	.heal = heal,
};
