/* The files behind the descriptors of a process that ptrace has stopped, from /proc. */
#ifndef TRACE_PTRACE_FILES_H
#define TRACE_PTRACE_FILES_H

#include "model/syscalls.h"
#include <stddef.h>
#include <sys/types.h>

/* The known kinds of files of one descriptor table. Zero-initialise it. */
struct file_cache {
	uint8_t *kinds; /* enum trace_file by descriptor; TRACE_FILE_NONE: not known */
	size_t cap;
	bool off; /* others change the table as well: look it up every time */
};

void file_cache_release(struct file_cache *c);

/* The enum trace_file of a descriptor of a thread; TRACE_FILE_NONE if it is not open. */
unsigned file_cache_get(struct file_cache *c, pid_t tid, int fd);

/* A descriptor was opened, closed or replaced; or all of them may have changed. */
void file_cache_forget(struct file_cache *c, int64_t fd);
void file_cache_forget_all(struct file_cache *c);

/* The enum trace_file of a descriptor, looked up now. */
unsigned file_kind(pid_t tid, int fd);

/* Both ends of a TCP socket of a thread; family 0 if it is not TCP, or not connected. `remote`: the
 * address passed to connect(), for a socket that is not connected yet, or NULL. */
struct sockaddr_storage;
void file_endpoints(pid_t pid, pid_t tid, int fd, const struct sockaddr_storage *remote,
	struct trace_endpoints *ret);

#endif
