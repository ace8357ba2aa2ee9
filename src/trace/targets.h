/* Selects processes by name. */
#ifndef TRACE_TARGETS_H
#define TRACE_TARGETS_H

#include "trace/backend.h"

enum target_match {
	TARGET_NOT,	 /* it has another name */
	TARGET_FOREIGN,	 /* it has the name, but belongs to another user */
	TARGET_DISGUISE, /* it has the name, but was started under another one */
	TARGET_WANTED,
};

/* Does `targets` name a process (as in /proc)? A process can change its name, so it must have been
 * started under this name: that of a program, of a link to one, or of a script. */
enum target_match target_match(const struct trace_targets *targets, pid_t pid);

/* Does the list of users include this one? An empty list includes all. */
bool target_user(const struct trace_targets *targets, uid_t uid);

#endif
