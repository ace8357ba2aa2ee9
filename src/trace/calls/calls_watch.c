#include "trace/calls/calls_watch.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/idmap.h"
#include "base/time.h"
#include "trace/namespaces.h"
#include "trace/netns.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct calls_watch {
	int dir;
	char *proc;
	char memfd[256]; /* the name of mappings of tables without a file name */
	bool passive;
	uint64_t netns;
	uint64_t pid_space;   /* our own */
	struct idmap looks;   /* process with other files than limpet's -> number of checks */
	int64_t looked_ns;    /* the last time that was done */
	int64_t elsewhere_ns; /* how often it is */
	struct calls_program *programs;
	size_t n, cap;
	uint64_t left_out;	 /* programs that started without a reader */
	uint64_t left_out_named; /* of the others, at the last check */
};

/* A table is abandoned if it has not changed for this long and its process has ended. */
#define ABANDONED_NS (60 * NS_PER_SEC)
#define ELSEWHERE_NS (10 * NS_PER_SEC)
/* A process that has no table after this many checks will not get one. */
#define LOOKS_MAX 6

static void program_release(struct calls_program *p)
{
	calls_reading_release(&p->reading);
	if (p->release)
		p->release(p->names);
	free(p->file);
	if (p->fd >= 0)
		close(p->fd);
}

void calls_watch_close(struct calls_watch *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->n; i++)
		program_release(&w->programs[i]);
	if (w->dir >= 0 && !w->passive)
		unlinkat(w->dir, CALLS_READER, 0);
	if (w->dir >= 0)
		close(w->dir);
	idmap_release(&w->looks);
	free(w->programs);
	free(w->proc);
	free(w);
}

uint64_t calls_watch_left_out(const struct calls_watch *w)
{
	return w->left_out + w->left_out_named;
}

/* Announce to programs that there is a reader. */
static int announce(const struct calls_watch *w, struct lp_err *err)
{
	_cleanup_close_ int fd = w->passive
		? -1
		: openat(w->dir, CALLS_READER,
			  O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);

	if (w->passive)
		return 0;
	if (fd < 0 || futimens(fd, NULL) < 0)
		return lp_err_sys(err, -errno, "cannot make programs count: %s", CALLS_READER);
	return 0;
}

/* The owner of a process; false: it has ended. */
static bool owner_of(const struct calls_watch *w, pid_t pid, uid_t *ret)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%d", w->proc, (int)pid);
	if (stat(path, &st) < 0)
		return false;
	*ret = st.st_uid;
	return true;
}

static int program_add(struct calls_watch *w, const struct calls_program *p, struct lp_err *err)
{
	if (array_reserve(&w->programs, &w->cap, w->n + 1, sizeof(*w->programs)) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot watch programs");
	w->programs[w->n++] = *p;
	return 0;
}

static bool is_known(const struct calls_watch *w, const char *file)
{
	for (size_t i = 0; i < w->n; i++) {
		if (w->programs[i].file && !strcmp(w->programs[i].file, file))
			return true;
	}
	return false;
}

/* Split "limpet-calls.PID.BIRTH". */
static bool name_parse(const char *name, pid_t *ret_pid, uint64_t *ret_birth_ns)
{
	size_t prefix = strlen(CALLS_PREFIX);
	char *end;
	long pid;
	unsigned long long birth;

	if (strncmp(name, CALLS_PREFIX, prefix) != 0)
		return false;
	pid = strtol(name + prefix, &end, 10);
	if (pid < 1 || pid > INT_MAX || *end != '.' || end[1] < '0' || end[1] > '9')
		return false;
	birth = strtoull(end + 1, &end, 10);
	if (*end)
		return false;
	*ret_pid = (pid_t)pid;
	*ret_birth_ns = birth;
	return true;
}

/* The name of a table contains the id of its process in the process's own namespace, which may
 * differ from its id here. */
static void program_place(const struct calls_watch *w, struct calls_program *p)
{
	uint64_t space = 0;

	if (p->placed || calls_reading_space(p->fd, &space) < 0)
		return;
	p->placed = true;
	if (!space || !w->pid_space || space == w->pid_space)
		return;
	p->pid = namespaces_outer_pid(w->proc, space, p->pid);
	p->gone = !p->pid;
}

/* Anybody can put a file there. It must be a regular file with one name, and belong to the user
 * whose process it claims to be from. */
static bool is_honest(const struct calls_watch *w, struct calls_program *p)
{
	struct stat st;
	uid_t owner;

	if (fstat(p->fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink > 1)
		return false;
	p->uid = st.st_uid;
	return p->gone || !owner_of(w, p->pid, &owner) || owner == p->uid || p->uid == 0;
}

/* The network namespace of an ended process is unknown, so a reader for one namespace removes its
 * table only later, when a reader for all namespaces has had enough time to read it. */
static void remove_abandoned(const struct calls_watch *w, const char *name, pid_t pid)
{
	struct stat st;
	uid_t owner;

	if (w->passive || owner_of(w, pid, &owner) ||
		fstatat(w->dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return;
	if (clock_ns(CLOCK_REALTIME) - (st.st_mtim.tv_sec * NS_PER_SEC + st.st_mtim.tv_nsec) >
		ABANDONED_NS)
		unlinkat(w->dir, name, 0);
}

static int file_found(struct calls_watch *w, const char *name, struct lp_err *err)
{
	struct calls_program p = {.fd = -1};
	int r = 0;

	if (!name_parse(name, &p.pid, &p.birth_ns) || is_known(w, name))
		return 0;
	if (!netns_holds(w->proc, w->netns, p.pid)) {
		remove_abandoned(w, name, p.pid);
		return 0;
	}
	if (w->passive && !owner_of(w, p.pid, &p.uid))
		return 0; /* it would be found repeatedly */
	if (w->n >= CALLS_PROGRAMS_MAX) {
		w->left_out_named++;
		return 0;
	}
	p.fd = openat(w->dir, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (p.fd < 0)
		p.fd = openat(w->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (p.fd < 0)
		return 0;
	program_place(w, &p);
	p.file = strdup(name);
	if (!p.file)
		r = lp_err_sys(err, -ENOMEM, "cannot watch programs");
	else if (is_honest(w, &p))
		r = program_add(w, &p, err);
	else
		p.bad = true;
	if (r < 0 || p.bad)
		program_release(&p);
	return r;
}

static int look_in_directory(struct calls_watch *w, struct lp_err *err)
{
	_cleanup_closedir_ DIR *d = NULL;
	const struct dirent *entry;
	int fd = openat(w->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;

	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		r = lp_err_sys(err, -errno, "cannot look for tables of calls");
		if (fd >= 0)
			close(fd);
		return r;
	}
	while (r == 0 && (entry = readdir(d)))
		r = file_found(w, entry->d_name, err);
	return r;
}

/* Parse the range of a table without a name, if this line of /proc/PID/maps describes one. */
static bool mapping_parse(const struct calls_watch *w, const char *line, char ret_range[64])
{
	const char *at = strstr(line, w->memfd);

	/* "/memfd:limpet-calls (deleted)" */
	return at && at[strlen(w->memfd)] == ' ' && sscanf(line, "%63[0-9a-f-]", ret_range) == 1;
}

/* Several processes may have the same table: those that clone() made. */
static bool is_table_known(const struct calls_watch *w, int fd)
{
	struct stat st, its;

	if (fstat(fd, &st) < 0)
		return true;
	for (size_t i = 0; i < w->n; i++) {
		if (fstat(w->programs[i].fd, &its) == 0 && its.st_dev == st.st_dev &&
			its.st_ino == st.st_ino)
			return true;
	}
	return false;
}

static int process_look(struct calls_watch *w, pid_t pid, struct lp_err *err)
{
	_cleanup_free_ char *line = NULL;
	_cleanup_fclose_ FILE *maps = NULL;
	char path[PATH_MAX], range[64];
	size_t cap = 0;

	snprintf(path, sizeof(path), "%s/%d/maps", w->proc, (int)pid);
	maps = fopen(path, "re");
	while (maps && getline(&line, &cap, maps) > 0) {
		struct calls_program p = {.pid = pid, .placed = true};

		if (!mapping_parse(w, line, range) || !owner_of(w, pid, &p.uid))
			continue;
		snprintf(path, sizeof(path), "%s/%d/map_files/%s", w->proc, (int)pid, range);
		p.fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
		if (p.fd < 0)
			return 0; /* only root may */
		if (is_table_known(w, p.fd))
			close(p.fd);
		else if (w->n >= CALLS_PROGRAMS_MAX || program_add(w, &p, err) < 0) {
			w->left_out++;
			close(p.fd);
		}
		return 0;
	}
	return 0;
}

/* Find programs that started without a reader. Later ones have their tables in the directory. */
static int look_at_processes(struct calls_watch *w, struct lp_err *err)
{
	_cleanup_closedir_ DIR *d = opendir(w->proc);
	const struct dirent *entry;
	int r = 0;

	while (r == 0 && d && (entry = readdir(d))) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);

		if (pid > 0 && !*end && netns_holds(w->proc, w->netns, (int)pid))
			r = process_look(w, (pid_t)pid, err);
	}
	return r;
}

/* Examine a process that may not see the directory, a limited number of times. 0 or -ENOMEM. */
static int stranger_look(
	struct calls_watch *w, int pid, struct idmap *ret_looks, struct lp_err *err)
{
	uint32_t looks = 0;

	if (!netns_holds(w->proc, w->netns, pid) || !namespaces_other_files(w->proc, pid))
		return 0;
	idmap_get(&w->looks, (uint64_t)pid, &looks);
	if (idmap_put(ret_looks, (uint64_t)pid, looks + 1) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot watch programs");
	return looks < LOOKS_MAX ? process_look(w, pid, err) : 0;
}

/* Find programs that have begun since then, in containers. */
static int look_elsewhere(struct calls_watch *w, struct lp_err *err)
{
	int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	_cleanup_closedir_ DIR *d = NULL;
	const struct dirent *entry;
	struct idmap looks = {0};
	int r = 0;

	if (now_ns - w->looked_ns < w->elsewhere_ns)
		return 0;
	w->looked_ns = now_ns;
	d = opendir(w->proc);
	while (r == 0 && d && (entry = readdir(d))) {
		int pid = (int)strtol(entry->d_name, NULL, 10);

		if (pid > 0)
			r = stranger_look(w, pid, &looks, err);
	}
	idmap_release(&w->looks);
	w->looks = looks;
	return r;
}

int calls_watch_open(
	const struct calls_watch_config *config, struct calls_watch **ret, struct lp_err *err)
{
	const char *chosen = getenv(CALLS_DIRECTORY_VARIABLE), *directory = config->directory;
	struct calls_watch *w = calloc(1, sizeof(*w));
	int r = 0;

	if (!directory)
		directory = chosen && chosen[0] == '/' ? chosen : CALLS_DIRECTORY;
	if (w) {
		bool is_default = !strcmp(directory, CALLS_DIRECTORY);

		snprintf(w->memfd, sizeof(w->memfd), "/memfd:" CALLS_MEMFD "%s%.230s",
			is_default ? "" : ":", is_default ? "" : directory);
		w->passive = config->passive;
		w->netns = config->netns;
		w->elsewhere_ns = config->elsewhere_ns ? config->elsewhere_ns : ELSEWHERE_NS;
		w->looked_ns = clock_ns(CLOCK_MONOTONIC);
		namespaces_pid_space(config->proc, 0, &w->pid_space);
		w->proc = strdup(config->proc);
		w->dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (!w || !w->proc)
		r = lp_err_sys(err, -ENOMEM, "cannot watch programs");
	else if (w->dir < 0)
		r = lp_err_sys(err, -errno, "cannot look for tables of calls in %s", directory);
	if (r == 0)
		r = announce(w, err);
	if (r == 0)
		r = look_at_processes(w, err);
	if (r < 0) {
		calls_watch_close(w);
		return r;
	}
	*ret = w;
	return 0;
}

/* Has it ended, or executed another program, which has a newer table? */
static bool has_ended(const struct calls_watch *w, const struct calls_program *p)
{
	uid_t owner;

	for (size_t i = 0; i < w->n; i++) {
		if (w->programs[i].pid == p->pid && w->programs[i].birth_ns > p->birth_ns)
			return true;
	}
	return p->gone || !owner_of(w, p->pid, &owner);
}

static void name_take(const struct calls_watch *w, struct calls_program *p)
{
	char path[PATH_MAX];
	_cleanup_fclose_ FILE *f = NULL;

	if (p->name[0] && p->ended)
		return;
	snprintf(path, sizeof(path), "%s/%d/comm", w->proc, (int)p->pid);
	f = p->ended ? NULL : fopen(path, "re");
	if (f && fgets(p->name, sizeof(p->name), f))
		p->name[strcspn(p->name, "\n")] = '\0';
	if (!p->name[0])
		snprintf(p->name, sizeof(p->name), "%s", p->reading.header.program);
}

static int program_read(
	struct calls_watch *w, struct calls_program *p, struct lp_warn *warn, struct lp_err *err)
{
	struct lp_err why = {0};
	int r = calls_reading_fill(&p->reading, p->fd, &why);

	if (r == -ENOMEM)
		return lp_err_sys(err, r, "cannot read a table of calls");
	if (r < 0 && r != -EAGAIN && !p->bad) {
		p->bad = true;
		lp_warn_raise(
			warn, "process %d: %s; its calls are not counted", (int)p->pid, why.text);
	}
	if (r == 0) {
		p->birth_ns = p->reading.header.birth_ns;
		name_take(w, p);
	}
	return r == 0;
}

static void program_forget(struct calls_watch *w, size_t i)
{
	if (w->programs[i].file && !w->passive)
		unlinkat(w->dir, w->programs[i].file, 0);
	program_release(&w->programs[i]);
	w->programs[i] = w->programs[--w->n];
}

int calls_watch_read(struct calls_watch *w,
	int (*fn)(void *ctx, struct calls_program *p, struct lp_err *err), void *ctx,
	struct lp_warn *warn, struct lp_err *err)
{
	int r = announce(w, err);

	w->left_out_named = 0;
	if (r == 0)
		r = look_in_directory(w, err);
	if (r == 0)
		r = look_elsewhere(w, err);
	for (size_t i = 0; r >= 0 && i < w->n; i++)
		program_place(w, &w->programs[i]);
	for (size_t i = 0; r >= 0 && i < w->n; i++)
		w->programs[i].ended = has_ended(w, &w->programs[i]);
	for (size_t i = 0; r >= 0 && i < w->n;) {
		r = program_read(w, &w->programs[i], warn, err);
		if (r > 0 && !w->programs[i].bad)
			r = fn(ctx, &w->programs[i], err);
		if (w->programs[i].ended)
			program_forget(w, i);
		else
			i++;
	}
	return r < 0 ? r : 0;
}
