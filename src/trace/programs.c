#include "trace/programs.h"

#include "trace/ptrace_proc.h"
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void trace_programs_release(struct trace_programs *p)
{
	for (unsigned i = 0; i < p->n; i++)
		free(p->items[i].path);
	*p = (struct trace_programs){0};
}

static struct trace_program *find(
	struct trace_programs *p, const char *name, const char *path, uid_t uid)
{
	for (unsigned i = 0; i < p->n; i++) {
		struct trace_program *one = &p->items[i];

		if (one->uid == uid && !strcmp(one->name, name) && !strcmp(one->path, path))
			return one;
	}
	return NULL;
}

void trace_programs_note(struct trace_programs *p, pid_t pid)
{
	char path[PATH_MAX], name[sizeof(p->items[0].name)];
	struct trace_program *one;
	ssize_t n = proc_exe(pid, path, sizeof(path) - 1);
	uid_t uid;

	if (n < 0 || !proc_uid(pid, &uid) || !proc_comm(pid, name, sizeof(name)))
		return; /* gone, or a kernel thread */
	path[n] = '\0';
	one = find(p, name, path, uid);
	if (!one && p->n == TRACE_PROGRAMS_MAX) {
		p->n_more++;
		return;
	}
	if (!one) {
		one = &p->items[p->n];
		*one = (struct trace_program){.path = strdup(path), .uid = uid};
		if (!one->path)
			return;
		snprintf(one->name, sizeof(one->name), "%s", name);
		p->n++;
	}
	one->n++;
}

const char *trace_user_name(uid_t uid, char *buf, size_t size)
{
	char text[1024];
	struct passwd entry, *found = NULL;

	if (getpwuid_r(uid, &entry, text, sizeof(text), &found) == 0 && found)
		snprintf(buf, size, "%s", found->pw_name);
	else
		snprintf(buf, size, "%u", (unsigned)uid);
	return buf;
}
