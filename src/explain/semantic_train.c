/* Failures that are normal, learnt from traces of a time without faults. */
#include "explain/semantic.h"

#include "base/cleanup.h"
#include "explain/semantic_normal.h"
#include "explain/semantic_read.h"
#include <errno.h>

static int learn(const struct traces *t, struct thresholds *to)
{
	for (size_t i = 0; i < t->n_pairs; i++) {
		const struct syscall_info *info = syscall_get(t->pair_list[i].nr);
		char buf[SYSCALL_NAME_MAX];
		int r;

		if (!info)
			continue;
		r = thresholds_add_normal(to,
			normal_role(t->programs[t->pair_list[i].program].serves), info->name,
			errno_name(t->pair_list[i].error, buf));
		if (r == -ENOMEM)
			return r;
	}
	return 0;
}

int semantic_train(struct lp_dataset *ds, const struct hosts *hosts, int64_t from_us, int64_t to_us,
	struct lp_warn *warn, struct thresholds *to, bool *ret_any, struct lp_err *err)
{
	_cleanup_(traces_release) struct traces t = {
		.hang_ns = SEMANTIC_HANG_US * 1000, .gather = true};
	int r = semantic_read(ds, hosts, from_us, to_us, warn, &t, ret_any, err);

	if ((r == 0 || r == -EBADMSG) && learn(&t, to) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot learn which failures are normal");
	return r;
}
