/* A directory like /proc with processes that do not exist. Needs temp_dir_setup. */
#ifndef PROC_RIG_H
#define PROC_RIG_H

#include "temp_dir.h"
#define PROC_RIG_MAX 128

/* Make all directories on the way to a path below the test's directory. */
static inline void proc_dirs(const char *path)
{
	char part[PROC_RIG_MAX];

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		mkdir(temp_path(part), 0755);
	}
}

static inline void proc_put(int pid, const char *file, const char *text)
{
	char path[PROC_RIG_MAX];

	snprintf(path, sizeof(path), "%d/%s", pid, file);
	proc_dirs(path);
	temp_text(path, text);
}

static inline void proc_link_put(int pid, const char *file, const char *target)
{
	char path[PROC_RIG_MAX];

	snprintf(path, sizeof(path), "%d/%s", pid, file);
	proc_dirs(path);
	unlink(temp_path(path));
	assert_int_equal(symlink(target, temp_path(path)), 0);
}

/* A process with its name, its directory and no descriptors. */
static inline void proc_process(int pid, const char *comm, const char *cwd)
{
	char line[64];

	snprintf(line, sizeof(line), "%s\n", comm);
	proc_put(pid, "comm", line);
	proc_put(pid, "fd/.made", "");
	proc_link_put(pid, "cwd", cwd);
	proc_link_put(pid, "root", "/");
	proc_link_put(pid, "ns/net", "net:[1]");
}

/* A descriptor of it, with the flags that fdinfo has in octal. */
static inline void proc_fd_put(int pid, int fd, const char *target, unsigned flags)
{
	char file[64], text[64];

	snprintf(file, sizeof(file), "fd/%d", fd);
	proc_link_put(pid, file, target);
	snprintf(file, sizeof(file), "fdinfo/%d", fd);
	snprintf(text, sizeof(text), "pos:\t0\nflags:\t0%o\nmnt_id:\t15\n", flags);
	proc_put(pid, file, text);
}

static inline void proc_fd_remove(int pid, int fd)
{
	char file[64];

	snprintf(file, sizeof(file), "%d/fd/%d", pid, fd);
	unlink(temp_path(file));
}

#define PROC_TCP_HEADING                                                                           \
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  "      \
	"timeout inode\n"

#endif
