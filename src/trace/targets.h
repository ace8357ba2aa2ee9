/* Selection of processes by name. */
#ifndef TRACE_TARGETS_H
#define TRACE_TARGETS_H

#include "trace/backend.h"

enum target_match {
	TARGET_NOT,	 /* called otherwise */
	TARGET_FOREIGN,	 /* of that name, but of another user */
	TARGET_DISGUISE, /* has that name, but was started as something else */
	TARGET_WANTED,
};

/* Is a process (as in /proc) one of those that `targets` names? A process can give itself any name:
 * it must have been started under it, as a program, a link to one, or a script. */
enum target_match target_match(const struct trace_targets *targets, pid_t pid);

/* Does the list of users include this one? An empty list includes all. */
bool target_user(const struct trace_targets *targets, uid_t uid);

#endif
