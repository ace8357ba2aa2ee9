/* Information about a process and its descriptors from /proc. */
#ifndef TRACE_DESCRIPTOR_PROC_H
#define TRACE_DESCRIPTOR_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROC_NAME_MAX 4096

struct proc_fd {
	uint8_t file;		  /* enum trace_file; TRACE_FILE_SOCKET for every socket */
	bool blocks;		  /* O_NONBLOCK is not set */
	bool cloexec;		  /* O_CLOEXEC is */
	uint64_t inode;		  /* of a socket, else 0 */
	char name[PROC_NAME_MAX]; /* the target of its link */
};

/* Open the directory of a process, for the functions below; -ENOENT or -ESRCH: it is gone. */
int proc_open(const char *proc, pid_t pid);

/* Read one descriptor. -ENOENT: it is not open. Never waits for the file system. */
int proc_fd_read(int dir, int fd, struct proc_fd *ret);

/* Read only its flags (fdinfo). */
int proc_fd_flags(int dir, int fd, bool *ret_blocks, bool *ret_cloexec);

/* Call `fn` for the number of every open descriptor; stops when it returns non-zero. */
int proc_fds(int dir, int (*fn)(void *ctx, int fd), void *ctx);

/* The text of a small file ("comm") without its last newline, and the target of a link ("cwd"); ""
 * if it cannot be read. Return `buf`. */
const char *proc_text(int dir, const char *file, char *buf, size_t size);
const char *proc_link(int dir, const char *file, char *buf, size_t size);

#endif
