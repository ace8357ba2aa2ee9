#include "trace/targets.h"

#include "trace/ptrace_proc.h"

bool target_user(const struct trace_targets *targets, uid_t uid)
{
	for (unsigned i = 0; i < targets->n_uids; i++) {
		if (targets->uids[i] == uid)
			return true;
	}
	return !targets->n_uids;
}

static enum target_match match_one(const struct trace_targets *targets, pid_t pid, const char *name)
{
	uid_t uid;

	if (!proc_is_called(pid, name))
		return TARGET_NOT;
	if (!proc_uid(pid, &uid) || !target_user(targets, uid))
		return TARGET_FOREIGN;
	return proc_started_as(pid, name) ? TARGET_WANTED : TARGET_DISGUISE;
}

enum target_match target_match(const struct trace_targets *targets, pid_t pid)
{
	for (unsigned i = 0; i < targets->n_comms; i++) {
		enum target_match m = match_one(targets, pid, targets->comms[i]);

		if (m != TARGET_NOT)
			return m;
	}
	return TARGET_NOT;
}
