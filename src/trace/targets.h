/* Who is meant by a name. */
#ifndef TRACE_TARGETS_H
#define TRACE_TARGETS_H

#include "trace/backend.h"

enum target_match {
	TARGET_NOT,	 /* called otherwise */
	TARGET_FOREIGN,	 /* called so, of a user that was not asked for */
	TARGET_DISGUISE, /* calls itself so, and was started as something else */
	TARGET_WANTED,
};

/* Is a process (as /proc has it) one of those that `targets` names? Anybody may give himself any
 * name: it must have been started under it, as a program, a link to one, or a script. */
enum target_match target_match(const struct trace_targets *targets, pid_t pid);

/* Does the list of users let this one in? An empty list lets everybody in. */
bool target_user(const struct trace_targets *targets, uid_t uid);

#endif
