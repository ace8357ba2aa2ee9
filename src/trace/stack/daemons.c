#include "trace/stack/daemons.h"

#include "base/cleanup.h"
#include "trace/netns.h"
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATE_LISTEN 0x0a
#define SPACES_MAX 64
#define SOCKETS_MAX 32
#define COMM_MAX 15 /* the kernel cuts longer names */

const char *const daemons_known[] = {
	"glusterfsd", "glusterfs", "pvfs2-server", "pvfs2fuse", "pvfs2-client-core", NULL};

static bool is_comm(const char *comm, const char *want)
{
	return !strncmp(comm, want, COMM_MAX) && strlen(comm) == strnlen(want, COMM_MAX);
}

/* Is the process called one of the names? */
static bool has_name(const char *proc, pid_t pid, const struct daemons *d)
{
	char path[PATH_MAX], comm[64] = "";
	_cleanup_fclose_ FILE *in = NULL;

	snprintf(path, sizeof(path), "%s/%d/comm", proc, pid);
	in = fopen(path, "re");
	if (!in || !fgets(comm, sizeof(comm), in))
		return false;
	comm[strcspn(comm, "\n")] = '\0';
	for (size_t i = 0; i < d->n_comms; i++) {
		if (is_comm(comm, d->comms[i]))
			return true;
	}
	for (size_t i = 0; !d->n_comms && daemons_known[i]; i++) {
		if (is_comm(comm, daemons_known[i]))
			return true;
	}
	return false;
}

/* The sockets of a network namespace that listen on the ports: read once for all its processes. */
struct space {
	uint64_t netns;
	unsigned long sockets[SOCKETS_MAX];
	size_t n;
};

struct finding {
	const char *proc;
	const struct daemons *d;
	struct space spaces[SPACES_MAX];
	size_t n_spaces;
};

/* Is one of the process's descriptors one of these sockets? */
static bool has_socket(const char *proc, pid_t pid, const struct space *space)
{
	char path[PATH_MAX], target[64];
	struct dirent *entry;
	unsigned long inode;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%d/fd", proc, pid);
	dir = space->n ? opendir(path) : NULL;
	while (dir && !found && (entry = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

		target[n > 0 ? n : 0] = '\0';
		if (strncmp(target, "socket:[", strlen("socket:[")) != 0)
			continue;
		inode = strtoul(target + strlen("socket:["), NULL, 10);
		for (size_t i = 0; i < space->n; i++)
			found |= space->sockets[i] == inode;
	}
	if (dir)
		closedir(dir);
	return found;
}

/* The inode and the port of a socket that listens, from a line of a table like /proc/net/tcp: "sl
 * local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode ...". 0: it does not
 * listen. */
static unsigned long scan_line(char *line, unsigned long *ret_port)
{
	enum { LOCAL = 1, STATE = 3, INODE = 9 };
	char *rest = line, *word, *colon = NULL;
	bool is_listening = false;

	for (int i = 0; (word = strtok_r(NULL, " ", &rest)); i++) {
		if (i == LOCAL)
			colon = strrchr(word, ':');
		else if (i == STATE)
			is_listening = strtoul(word, NULL, 16) == STATE_LISTEN;
		if (i != INODE)
			continue;
		if (!colon || !is_listening)
			return 0;
		*ret_port = strtoul(colon + 1, NULL, 16);
		return strtoul(word, NULL, 10);
	}
	return 0;
}

/* not fuzzed: a table of the kernel's, whose words are numbers */
static void read_table(const struct finding *f, pid_t pid, const char *table, struct space *ret)
{
	char path[PATH_MAX], line[512];
	_cleanup_fclose_ FILE *in = NULL;
	unsigned long port, inode;

	snprintf(path, sizeof(path), "%s/%d/net/%s", f->proc, pid, table);
	in = fopen(path, "re");
	while (in && fgets(line, sizeof(line), in)) {
		inode = scan_line(line, &port);
		for (size_t i = 0; inode && i < f->d->n_ports && ret->n < SOCKETS_MAX; i++) {
			if (f->d->ports[i] == port)
				ret->sockets[ret->n++] = inode;
		}
	}
}

/* Does it listen on one of the ports? */
static bool listens(struct finding *f, pid_t pid)
{
	struct space *space = &f->spaces[f->n_spaces];
	uint64_t netns;

	if (!netns_of(f->proc, pid, &netns))
		return false;
	for (size_t i = 0; i < f->n_spaces; i++) {
		if (f->spaces[i].netns == netns)
			return has_socket(f->proc, pid, &f->spaces[i]);
	}
	*space = (struct space){.netns = netns};
	read_table(f, pid, "tcp", space);
	read_table(f, pid, "tcp6", space);
	f->n_spaces += f->n_spaces < SPACES_MAX - 1;
	return has_socket(f->proc, pid, space);
}

static bool is_meant(struct finding *f, pid_t pid)
{
	const struct daemons *d = f->d;

	if (!netns_holds(f->proc, d->netns, pid))
		return false;
	if (!d->n_ports)
		return has_name(f->proc, pid, d);
	/* With ports, the port decides; a name has to match as well if one is given. */
	return (!d->n_comms || has_name(f->proc, pid, d)) && listens(f, pid);
}

size_t daemons_find(const char *proc, const struct daemons *d, pid_t ret[DAEMONS_MAX])
{
	DIR *dir = d->n_pids ? NULL : opendir(proc);
	struct finding f = {.proc = proc, .d = d};
	struct dirent *entry;
	size_t n = 0;

	for (; n < d->n_pids && n < DAEMONS_MAX; n++)
		ret[n] = d->pids[n];
	while (dir && n < DAEMONS_MAX && (entry = readdir(dir))) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);

		if (end != entry->d_name && !*end && pid > 0 && pid <= INT_MAX && pid != getpid() &&
			is_meant(&f, (pid_t)pid))
			ret[n++] = (pid_t)pid;
	}
	if (dir)
		closedir(dir);
	return n;
}
