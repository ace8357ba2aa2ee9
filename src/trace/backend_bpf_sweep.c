/* Removes entries of ended processes from the kernel's maps; nothing else does. */
#include "trace/backend_bpf.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/time.h"
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <time.h>

/* Not at every sample, because there is little to find. */
#define SWEEP_EVERY_NS (5 * NS_PER_SEC)
/* A process this young may not be known to be traced yet. */
#define YOUNG_NS (5 * NS_PER_SEC)

/* Is this AIO that was never reaped, because its process has ended or closed its context? */
static bool is_left(const struct bpf_tracer *t, const struct bpf_async *a, int64_t now_ns)
{
	uint32_t value;

	return now_ns - (int64_t)a->start_ns >= YOUNG_NS &&
		bpf_map_lookup_elem(t->processes_fd, &a->pid, &value) < 0;
}

static int sweep_asyncs(struct bpf_tracer *t, int64_t now_ns)
{
	_cleanup_(bpf_entries_release) struct bpf_entries all = {.fd = -1};
	_cleanup_free_ struct bpf_async_key *left = NULL;
	size_t n = 0, cap = 0;
	int r = bpf_entries_open(&all, bpf_tracer_map(t, "asyncs"));

	if (r == 0)
		r = bpf_entries_read(&all);
	for (size_t i = 0; r == 0 && i < all.n; i++) {
		struct bpf_async a;

		memcpy(&a, bpf_entries_value(&all, i), sizeof(a));
		if (!is_left(t, &a, now_ns))
			continue;
		if (array_reserve(&left, &cap, n + 1, sizeof(*left)) < 0)
			return -ENOMEM;
		memcpy(&left[n++], bpf_entries_key(&all, i), sizeof(*left));
	}
	if (r == 0)
		bpf_entries_remove(&all, left, n);
	return r;
}

int bpf_sweep(struct bpf_tracer *t, struct lp_err *err)
{
	int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	int r;

	if (now_ns - t->swept_ns < SWEEP_EVERY_NS)
		return 0;
	t->swept_ns = now_ns;
	bpf_targets_drop_ended(t);
	r = sweep_asyncs(t, now_ns);
	return r < 0 ? lp_err_sys(err, r, "cannot clean up the kernel's tables") : 0;
}
