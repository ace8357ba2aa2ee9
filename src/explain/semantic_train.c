/* Learns normal failures from traces without faults. */
#include "explain/semantic.h"

#include "base/cleanup.h"
#include "explain/semantic_normal.h"
#include "explain/semantic_read.h"
#include "explain/semantic_reader.h"
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
			normal_role(traces_serves(t, t->pair_list[i].process)), info->name,
			errno_name(t->pair_list[i].error, buf));
		if (r == -ENOMEM)
			return r;
	}
	return 0;
}

int semantic_train(struct lp_dataset *ds, const struct hosts *hosts, int64_t from_us, int64_t to_us,
	struct lp_warn *warn, struct thresholds *to, bool *ret_any, struct lp_err *err)
{
	struct semantic_options options = {.from_us = from_us, .to_us = to_us, .warn = warn};
	_cleanup_(semantic_reader_freep) struct semantic_reader *reader =
		semantic_reader_new(&options, hosts, true);
	const struct traces *t;
	int r;

	if (!reader)
		return lp_err_sys(err, -ENOMEM, "cannot learn which failures are normal");
	r = semantic_read(ds, &options, reader, err);
	if (r < 0 && r != -EBADMSG)
		return r;
	t = semantic_reader_traces(reader);
	if (!t || learn(t, to) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot learn which failures are normal");
	*ret_any = semantic_reader_any(reader);
	return r;
}
