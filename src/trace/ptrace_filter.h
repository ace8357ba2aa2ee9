/* A seccomp filter that lets the kernel stop a command only at calls that matter for a summary. */
#ifndef TRACE_PTRACE_FILTER_H
#define TRACE_PTRACE_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>

#define FILTER_MAX 2048

struct ptrace_filter {
	struct sock_filter code[FILTER_MAX];
	unsigned short n;
};

/* Is this call left out of summaries? These are calls that wait, or do something without a
 * descriptor or path: futex, clock_gettime, getpid, nanosleep. */
bool filter_skips(unsigned nr);

void filter_make(struct ptrace_filter *ret);

/* Put the calling process under the filter, permanently. 0 or a negative errno. It works only under
 * a tracer; without one, the filtered calls fail with ENOSYS. */
int filter_install(const struct ptrace_filter *f);

#endif
