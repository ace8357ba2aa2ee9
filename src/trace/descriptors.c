#include "trace/descriptors.h"

#include "base/cleanup.h"
#include "model/endpoints.h"
#include "trace/descriptor_calls.h"
#include "trace/descriptor_proc.h"
#include <errno.h>
#include <linux/sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sockets that were read from /proc have the inode as their id; all others are counted. */
#define ID_OF_INODE (UINT64_C(1) << 63)
/* The maximum age of the list of sockets: for a whole table, and for a missing socket. */
#define NET_FRESH_NS 1000000000
#define NET_RETRY_NS 100000000
/* Listening sockets are among the first ones that a server opens. */
#define LISTENING_FDS_MAX 4096

struct descriptors *descriptors_new(
	const char *proc, int (*change)(void *ctx, const struct trace_descriptor *d), void *ctx)
{
	struct descriptors *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->proc = strdup(proc);
	d->change = change;
	d->ctx = ctx;
	d->next_id = 1;
	if (!d->proc) {
		free(d);
		return NULL;
	}
	return d;
}

void descriptors_free(struct descriptors *d)
{
	if (!d)
		return;
	processes_release(&d->processes);
	net_sockets_release(&d->net);
	free(d->proc);
	free(d);
}

static int tell_one(const struct step *s, pid_t pid, int fd, int from, unsigned change,
	const struct open_file *file)
{
	const struct trace_descriptor told = {.seq = s->e ? s->e->seq : 0,
		.time_ns = s->end_ns,
		.pid = pid,
		.fd = fd,
		.from = from,
		.change = (uint8_t)change,
		.file = file ? file->file : TRACE_FILE_NONE,
		.name = file ? file->name : ""};

	return s->d->change ? s->d->change(s->d->ctx, &told) : 0;
}

/* Report a change to all processes that share the table. */
static int tell(const struct step *s, int fd, int from, unsigned change, const struct open_file *f)
{
	const struct processes *ps = &s->d->processes;
	int r = 0;

	if (s->p->table->refs == 1)
		return tell_one(s, s->p->pid, fd, from, change, f);
	for (size_t i = 0; i < ps->n_buckets; i++) {
		for (const struct process *p = ps->buckets[i]; r == 0 && p; p = p->next) {
			if (p->table == s->p->table)
				r = tell_one(s, p->pid, fd, from, change, f);
		}
	}
	return r;
}

/* Did this call replace the previous file, or will its close still come? */
static bool took_place(const struct step *s, unsigned change)
{
	const struct syscall_info *call = s->e ? trace_event_syscall(s->e) : NULL;

	if (!call || change == TRACE_FD_CONNECT)
		return false;
	return strcmp(call->name, "dup2") != 0 && strcmp(call->name, "dup3") != 0;
}

int step_put(const struct step *s, int fd, int from, unsigned change, struct open_file *file,
	bool cloexec)
{
	const struct fd_slot *old = fd_table_get(s->p->table, fd);
	unsigned replaced = old ? old->replaced + took_place(s, change) : 0;
	int r = fd_table_put(s->p->table, fd, file, cloexec, s->end_ns);

	if (r < 0)
		return r == -ERANGE ? 0 : r;
	s->p->table->slots[fd].replaced = replaced;
	return tell(s, fd, from, change, file);
}

int step_make(const struct step *s, const struct fresh *f)
{
	struct open_file *file = open_file_new(f->file, s->d->next_id, f->name);

	if (!file)
		return -ENOMEM;
	s->d->next_id++;
	file->blocks = !f->nonblock;
	file->accepted = f->accepted;
	if (f->ends)
		file->ends = *f->ends;
	return step_put(s, f->fd, f->from, f->change, file, f->cloexec);
}

int step_close(const struct step *s, int fd, unsigned change)
{
	struct fd_slot *slot = fd_table_get(s->p->table, fd);
	struct open_file *file;
	int r;

	if (!slot)
		return 0;
	file = open_file_ref(slot->file);
	fd_table_drop(s->p->table, fd);
	r = tell(s, fd, -1, change, file);
	open_file_unref(file);
	return r;
}

/* Add a child of the current process: a copy of it, with `table`. */
static int add_born(const struct step *s, pid_t id, pid_t owner, struct fd_table *table)
{
	struct process *p = processes_add(&s->d->processes, id, owner, table);
	int r;

	if (!p)
		return -ENOMEM;
	p->read = true;
	memcpy(p->comm, s->p->comm, sizeof(p->comm));
	r = process_set_text(&p->cwd, s->p->cwd);
	if (r == 0)
		r = process_set_text(&p->root, s->p->root);
	return r == 0 ? tell_one(s, id, -1, s->p->pid, TRACE_FD_FORK, NULL) : r;
}

/* From then on, a thread that no longer shares the table has its own entry. */
static int unshare_thread(const struct step *s)
{
	return add_born(s, s->e->tid, s->p->pid, fd_table_copy(s->p->table));
}

int step_unshare(const struct step *s)
{
	struct fd_table *own;

	if (s->e->tid != s->p->pid && s->e->pid == s->p->pid)
		return unshare_thread(s);
	if (s->p->table->refs == 1)
		return 0;
	own = fd_table_copy(s->p->table);
	if (!own)
		return -ENOMEM;
	fd_table_unref(s->p->table);
	s->p->table = own;
	return 0;
}

/* An open TCP connection is the same in all processes. */
static struct open_file *find_connection(struct descriptors *d, const struct trace_endpoints *ends)
{
	for (size_t i = 0; i < d->processes.n_buckets; i++) {
		for (const struct process *p = d->processes.buckets[i]; p; p = p->next) {
			for (size_t fd = 0; fd < p->table->cap; fd++) {
				struct open_file *f = p->table->slots[fd].file;

				if (f && !memcmp(&f->ends, ends, sizeof(*ends)))
					return f;
			}
		}
	}
	return NULL;
}

static const struct net_socket *find_socket(const struct step *s, uint64_t inode)
{
	const struct net_socket *socket;

	if (!inode ||
		net_sockets_read(&s->d->net, s->d->proc, s->p->owner, s->end_ns, NET_FRESH_NS) < 0)
		return NULL;
	socket = net_sockets_find(&s->d->net, inode);
	if (!socket &&
		net_sockets_read(&s->d->net, s->d->proc, s->p->owner, s->end_ns, NET_RETRY_NS) == 0)
		socket = net_sockets_find(&s->d->net, inode);
	return socket;
}

/* The open file that /proc describes; NULL: out of memory. */
static struct open_file *file_of_proc(
	const struct step *s, const struct proc_fd *seen, unsigned change)
{
	const struct net_socket *socket = find_socket(s, seen->inode);
	bool connected = socket && endpoints_connected(&socket->ends);
	struct open_file *file = connected && change == TRACE_FD_PASSED
		? find_connection(s->d, &socket->ends)
		: NULL;

	if (file)
		return open_file_ref(file);
	file = open_file_new(socket ? socket->file : seen->file,
		seen->inode ? ID_OF_INODE | seen->inode : s->d->next_id++,
		socket ? socket->name : seen->name);
	if (!file)
		return NULL;
	file->blocks = seen->blocks;
	file->accepted = socket && socket->accepted;
	if (connected)
		file->ends = socket->ends;
	return file;
}

static int put_seen(
	const struct step *s, int fd, const struct proc_fd *seen, unsigned change, bool cloexec)
{
	struct open_file *file = file_of_proc(s, seen, change);

	return file ? step_put(s, fd, -1, change, file, cloexec) : -ENOMEM;
}

int step_look(const struct step *s, int fd, unsigned change, bool cloexec)
{
	_cleanup_close_ int dir = proc_open(s->d->proc, s->p->owner);
	const struct fresh unknown = {.fd = fd,
		.from = -1,
		.change = change,
		.file = TRACE_FILE_OTHER,
		.name = "?",
		.cloexec = cloexec};
	struct proc_fd seen;

	if (dir >= 0 && proc_fd_read(dir, fd, &seen) == 0)
		return put_seen(s, fd, &seen, change, cloexec);
	return change == TRACE_FD_SEEN ? 0 : step_make(s, &unknown);
}

struct reading {
	const struct step *s;
	int dir;
	unsigned n; /* descriptors examined */
};

static int read_one(void *ctx, int fd)
{
	const struct reading *r = ctx;
	struct proc_fd seen;

	if (proc_fd_read(r->dir, fd, &seen) < 0)
		return 0;
	return put_seen(r->s, fd, &seen, TRACE_FD_BEFORE, seen.cloexec);
}

static pid_t *gone_at(struct descriptors *d, pid_t pid)
{
	return &d->gone[pid & (DESCRIPTORS_GONE - 1)];
}

/* The entry of a process with data from its directory, except for its descriptors. */
static int process_meet(struct descriptors *d, pid_t pid, int dir, struct process **ret)
{
	char text[PROC_NAME_MAX];
	struct process *p = processes_find(&d->processes, pid);
	int r;

	if (!p)
		p = processes_add(&d->processes, pid, pid, fd_table_new());
	if (!p)
		return -ENOMEM;
	snprintf(p->comm, sizeof(p->comm), "%s", proc_text(dir, "comm", text, sizeof(p->comm)));
	r = process_set_text(&p->cwd, proc_link(dir, "cwd", text, sizeof(text)));
	proc_link(dir, "root", text, sizeof(text));
	if (r == 0)
		r = process_set_text(&p->root, strcmp(text, "/") != 0 ? text : "");
	*ret = p;
	return r;
}

/* Read everything about a process; NULL in `ret`: it is gone. */
static int process_read(struct descriptors *d, pid_t pid, int64_t now_ns, struct process **ret)
{
	_cleanup_close_ int dir = proc_open(d->proc, pid);
	struct step s = {.d = d, .end_ns = now_ns};
	struct reading reading = {.s = &s, .dir = dir};
	int r;

	*ret = NULL;
	if (dir < 0) {
		*gone_at(d, pid) = pid;
		return 0;
	}
	r = process_meet(d, pid, dir, &s.p);
	if (r < 0)
		return r;
	s.p->read = true;
	r = proc_fds(dir, read_one, &reading);
	/* Processes of other users hide their descriptors, but their later activity is visible.
	 */
	if (r == -EACCES || r == -ENOENT || r == -ESRCH)
		r = 0;
	*ret = s.p;
	return r;
}

static int report(int r, pid_t pid, struct lp_err *err)
{
	return r == -ENOMEM ? lp_err_sys(err, r, "cannot follow the descriptors of %d", (int)pid)
			    : r;
}

int descriptors_read(struct descriptors *d, pid_t pid, int64_t now_ns, struct lp_err *err)
{
	struct process *p = processes_find(&d->processes, pid);

	if (p && p->read)
		return 0;
	return report(process_read(d, pid, now_ns, &p), pid, err);
}

/* The process of an event, or the thread with its own table; NULL in `ret`: unknown. */
static int process_of(struct descriptors *d, const struct trace_event *e, struct process **ret)
{
	struct process *p = NULL;

	if (d->processes.n_private && e->tid != e->pid)
		p = processes_find(&d->processes, e->tid);
	if (!p || p->owner != e->pid)
		p = processes_find(&d->processes, e->pid);
	*ret = p;
	if ((p && p->read) || (!p && *gone_at(d, e->pid) == e->pid))
		return 0;
	return process_read(d, e->pid, e->start_ns + e->dur_ns, ret);
}

/* The child shares the table of its parent, or has a copy of it. */
static int inherit(const struct step *s, pid_t child, pid_t owner)
{
	bool shares = s->e->args[0] & CLONE_FILES;
	struct fd_table *table = shares ? s->p->table : fd_table_copy(s->p->table);

	if (shares)
		table->refs++;
	processes_remove(&s->d->processes, child); /* its end was lost */
	return add_born(s, child, owner, table);
}

static int apply_fork(const struct step *s)
{
	pid_t child = (pid_t)s->e->ret;
	bool thread = s->e->args[0] & CLONE_THREAD;

	if (child <= 0 || child == s->p->pid)
		return 0;
	if (*gone_at(s->d, child) == child)
		*gone_at(s->d, child) = 0;
	if (!thread)
		return inherit(s, child, child);
	return s->e->args[0] & CLONE_FILES ? 0 : inherit(s, child, s->p->owner);
}

/* "/usr/sbin/glusterfsd" -> "glusterfsd", like the kernel. */
static void set_comm(struct process *p, const struct trace_event *e)
{
	const char *slash = e->text ? memrchr(e->text, '/', e->text_len) : NULL;
	const char *name = slash ? slash + 1 : e->text;
	int len = name ? (int)(e->text + e->text_len - name) : 0;

	if (len > 0)
		snprintf(p->comm, sizeof(p->comm), "%.*s", len < 15 ? len : 15, name);
}

/* Exec ends all other threads, unshares the table and closes marked descriptors; later data of
 * /proc belongs to the new program. */
static int apply_exec(struct step *s)
{
	int r = 0;

	processes_remove_private(&s->d->processes, s->e->pid);
	s->p = processes_find(&s->d->processes, s->e->pid);
	if (!s->p)
		return 0;
	set_comm(s->p, s->e);
	if (s->p->table->refs > 1) {
		struct fd_table *own = fd_table_copy(s->p->table);

		if (!own)
			return -ENOMEM;
		fd_table_unref(s->p->table);
		s->p->table = own;
	}
	for (size_t fd = 0; r == 0 && fd < s->p->table->cap; fd++) {
		const struct fd_slot *slot = fd_table_get(s->p->table, (int)fd);

		if (slot && slot->cloexec && slot->made_ns <= s->end_ns)
			r = step_close(s, (int)fd, TRACE_FD_EXEC);
	}
	return r;
}

/* After a loss: if a call on a descriptor succeeded, it is open, even if its opening was not
 * recorded. */
static int meet_lost(const struct step *s)
{
	int fd = s->e->ret >= 0 ? trace_event_fd(s->e) : -1;

	if (fd < 0 || fd_table_get(s->p->table, fd))
		return 0;
	return step_look(s, fd, TRACE_FD_SEEN, false);
}

static int apply_call(struct step *s)
{
	if (!s->d->lost)
		return descriptor_call(s);
	if (!descriptor_call_matters(s->e))
		return meet_lost(s);
	return descriptor_call(s);
}

/* A process was gone before /proc could be read: the name of its program is known, and its later
 * opens. */
static int meet_unread(struct descriptors *d, pid_t pid, struct process **ret)
{
	*gone_at(d, pid) = 0;
	*ret = processes_add(&d->processes, pid, pid, fd_table_new());
	if (!*ret)
		return -ENOMEM;
	(*ret)->read = true;
	return 0;
}

static int apply(struct descriptors *d, const struct trace_event *e)
{
	struct step s = {.d = d, .e = e, .end_ns = e->start_ns + e->dur_ns};
	int r;

	if (e->what == TRACE_LOST) {
		d->lost = true;
		return 0;
	}
	if (e->what == TRACE_EXIT) {
		descriptors_forget(d, e->pid);
		*gone_at(d, e->pid) = e->pid; /* events of its threads may come late */
		return 0;
	}
	r = process_of(d, e, &s.p);
	if (r == 0 && !s.p && e->what == TRACE_EXEC)
		r = meet_unread(d, e->pid, &s.p);
	if (r != 0 || !s.p)
		return r;
	switch (e->what) {
	case TRACE_CALL:
		return apply_call(&s);
	case TRACE_FORK:
		return apply_fork(&s);
	case TRACE_EXEC:
		return apply_exec(&s);
	default:
		return 0;
	}
}

int descriptors_apply(struct descriptors *d, const struct trace_event *e, struct lp_err *err)
{
	return report(apply(d, e), e->pid, err);
}

static bool describe(const struct fd_slot *slot, struct descriptor *ret)
{
	if (!slot)
		return false;
	*ret = (struct descriptor){.file = slot->file->file,
		.blocks = slot->file->blocks,
		.accepted = slot->file->accepted,
		.id = slot->file->id,
		.ends = slot->file->ends,
		.name = slot->file->name};
	return true;
}

bool descriptors_get(struct descriptors *d, pid_t pid, int fd, struct descriptor *ret)
{
	const struct process *p = processes_find(&d->processes, pid);

	return p && describe(fd_table_get(p->table, fd), ret);
}

/* Does the slot match /proc? A socket that was connected since then is another one. */
static bool same(const struct step *s, const struct fd_slot *slot, const struct proc_fd *seen)
{
	const struct open_file *f = slot ? slot->file : NULL;
	const struct net_socket *socket;

	if (!f)
		return false;
	if (!seen->inode)
		return !strcmp(f->name, seen->name);
	if (f->id != (ID_OF_INODE | seen->inode))
		return false;
	if (f->file != TRACE_FILE_TCP || endpoints_connected(&f->ends))
		return true;
	socket = find_socket(s, seen->inode);
	return !socket || !strcmp(socket->name, f->name);
}

bool descriptors_look(
	struct descriptors *d, pid_t pid, int fd, int64_t now_ns, struct descriptor *ret)
{
	_cleanup_close_ int dir = proc_open(d->proc, pid);
	struct step s = {.d = d, .end_ns = now_ns};
	struct fd_slot *slot;
	struct proc_fd seen;

	s.p = processes_find(&d->processes, pid);
	if (dir < 0 || (!s.p && process_meet(d, pid, dir, &s.p) < 0))
		return false;
	if (proc_fd_read(dir, fd, &seen) < 0) {
		fd_table_drop(s.p->table, fd);
		return false;
	}
	slot = fd_table_get(s.p->table, fd);
	if (same(&s, slot, &seen))
		slot->file->blocks = seen.blocks;
	else if (put_seen(&s, fd, &seen, TRACE_FD_SEEN, seen.cloexec) < 0)
		return false;
	return describe(fd_table_get(s.p->table, fd), ret);
}

/* Does the socket of a descriptor listen for connections? */
static bool listens(const struct reading *r, int fd)
{
	const struct net_socket *socket;
	char path[32], name[64];

	snprintf(path, sizeof(path), "fd/%d", fd);
	if (strncmp(proc_link(r->dir, path, name, sizeof(name)), "socket:[", 8) != 0)
		return false;
	socket = find_socket(r->s, strtoull(name + 8, NULL, 10));
	return socket && socket->file == TRACE_FILE_TCP && socket->ends.local_port &&
		!endpoints_connected(&socket->ends);
}

static int tell_listening(void *ctx, int fd)
{
	struct reading *r = ctx;
	struct fd_table *table = r->s->p->table;
	struct fd_slot *slot;
	struct proc_fd seen;
	int failed;

	if (++r->n > LISTENING_FDS_MAX)
		return 1;
	if (!listens(r, fd) || proc_fd_read(r->dir, fd, &seen) < 0)
		return 0;
	slot = fd_table_get(table, fd);
	if (!same(r->s, slot, &seen)) {
		failed = put_seen(r->s, fd, &seen, TRACE_FD_SEEN, seen.cloexec);
		slot = fd_table_get(table, fd);
	} else {
		failed = slot->file->told
			? 0
			: tell_one(r->s, r->s->p->pid, fd, -1, TRACE_FD_SEEN, slot->file);
	}
	if (slot)
		slot->file->told = true;
	return failed;
}

int descriptors_listening(struct descriptors *d, pid_t pid, int64_t now_ns, struct lp_err *err)
{
	_cleanup_close_ int dir = proc_open(d->proc, pid);
	struct step s = {.d = d, .end_ns = now_ns};
	struct reading reading = {.s = &s, .dir = dir};
	int r = 0;

	s.p = processes_find(&d->processes, pid);
	if (dir >= 0 && !s.p)
		r = process_meet(d, pid, dir, &s.p);
	if (r == 0 && dir >= 0)
		r = proc_fds(dir, tell_listening, &reading);
	if (r == 1 || r == -EACCES || r == -ENOENT || r == -ESRCH)
		r = 0;
	return report(r, pid, err);
}

void descriptors_forget(struct descriptors *d, pid_t pid)
{
	processes_remove(&d->processes, pid);
}

const char *descriptors_comm(struct descriptors *d, pid_t pid)
{
	struct process *p = processes_find(&d->processes, pid);
	_cleanup_close_ int dir = p ? -1 : proc_open(d->proc, pid);

	if (!p && (dir < 0 || process_meet(d, pid, dir, &p) < 0))
		return "?";
	return p->comm[0] ? p->comm : "?";
}
