#include "trace/descriptor_table.h"

#include "base/array.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct open_file *open_file_new(unsigned file, uint64_t id, const char *name)
{
	size_t len = strlen(name) + 1;
	struct open_file *f = malloc(sizeof(*f) + len);

	if (!f)
		return NULL;
	*f = (struct open_file){.refs = 1, .file = (uint8_t)file, .blocks = true, .id = id};
	f->name = f->inline_name;
	memcpy(f->name, name, len);
	return f;
}

int open_file_rename(struct open_file *f, const char *name)
{
	char *copy = strdup(name);

	if (!copy)
		return -ENOMEM;
	if (f->name != f->inline_name)
		free(f->name);
	f->name = copy;
	return 0;
}

struct open_file *open_file_ref(struct open_file *f)
{
	f->refs++;
	return f;
}

void open_file_unref(struct open_file *f)
{
	if (!f || --f->refs > 0)
		return;
	if (f->name != f->inline_name)
		free(f->name);
	free(f);
}

struct fd_table *fd_table_new(void)
{
	struct fd_table *t = calloc(1, sizeof(*t));

	if (t)
		t->refs = 1;
	return t;
}

struct fd_table *fd_table_copy(const struct fd_table *t)
{
	struct fd_table *copy = fd_table_new();

	if (!copy)
		return NULL;
	if (array_reserve(&copy->slots, &copy->cap, t->cap, sizeof(*t->slots)) < 0) {
		fd_table_unref(copy);
		return NULL;
	}
	for (size_t i = 0; i < t->cap; i++) {
		copy->slots[i] = t->slots[i];
		if (t->slots[i].file)
			open_file_ref(t->slots[i].file);
	}
	return copy;
}

void fd_table_unref(struct fd_table *t)
{
	if (!t || --t->refs > 0)
		return;
	for (size_t i = 0; i < t->cap; i++)
		open_file_unref(t->slots[i].file);
	free(t->slots);
	free(t);
}

int fd_table_put(struct fd_table *t, int fd, struct open_file *file, bool cloexec, int64_t made_ns)
{
	int r = 0;

	if (fd < 0 || fd >= FD_TABLE_MAX)
		r = -ERANGE;
	else if ((size_t)fd >= t->cap)
		r = array_reserve(&t->slots, &t->cap, (size_t)fd + 1, sizeof(*t->slots));
	if (r < 0) {
		open_file_unref(file);
		return r;
	}
	open_file_unref(t->slots[fd].file);
	t->slots[fd] = (struct fd_slot){.file = file, .made_ns = made_ns, .cloexec = cloexec};
	return 0;
}

void fd_table_drop(struct fd_table *t, int fd)
{
	struct fd_slot *slot = fd_table_get(t, fd);

	if (!slot)
		return;
	open_file_unref(slot->file);
	*slot = (struct fd_slot){0};
}

static void process_free(struct process *p)
{
	fd_table_unref(p->table);
	free(p->cwd);
	free(p->root);
	free(p);
}

void processes_release(struct processes *ps)
{
	for (size_t i = 0; i < ps->n_buckets; i++) {
		for (struct process *p = ps->buckets[i], *next; p; p = next) {
			next = p->next;
			process_free(p);
		}
	}
	free(ps->buckets);
	*ps = (struct processes){0};
}

/* Process ids are assigned consecutively, so their low bits are as good as a hash. */
static struct process **bucket(const struct processes *ps, pid_t pid)
{
	return &ps->buckets[(size_t)pid & (ps->n_buckets - 1)];
}

struct process *processes_find(struct processes *ps, pid_t pid)
{
	if (ps->last && ps->last->pid == pid)
		return ps->last;
	if (!ps->n_buckets)
		return NULL;
	for (struct process *p = *bucket(ps, pid); p; p = p->next) {
		if (p->pid == pid) {
			ps->last = p;
			return p;
		}
	}
	return NULL;
}

static int grow(struct processes *ps)
{
	struct processes bigger = {.n_buckets = ps->n_buckets ? 2 * ps->n_buckets : 64};

	bigger.buckets = calloc(bigger.n_buckets, sizeof(struct process *));
	if (!bigger.buckets)
		return -ENOMEM;
	for (size_t i = 0; i < ps->n_buckets; i++) {
		for (struct process *p = ps->buckets[i], *next; p; p = next) {
			next = p->next;
			p->next = *bucket(&bigger, p->pid);
			*bucket(&bigger, p->pid) = p;
		}
	}
	free(ps->buckets);
	ps->buckets = bigger.buckets;
	ps->n_buckets = bigger.n_buckets;
	return 0;
}

struct process *processes_add(struct processes *ps, pid_t pid, pid_t owner, struct fd_table *table)
{
	struct process *p = calloc(1, sizeof(*p));

	if (!p || !table || (ps->n >= ps->n_buckets && grow(ps) < 0)) {
		fd_table_unref(table);
		free(p);
		return NULL;
	}
	p->pid = pid;
	p->owner = owner;
	p->table = table;
	p->cwd = strdup("");
	p->root = strdup("");
	if (!p->cwd || !p->root) {
		process_free(p);
		return NULL;
	}
	p->next = *bucket(ps, pid);
	*bucket(ps, pid) = p;
	ps->n++;
	ps->n_private += owner != pid;
	return p;
}

static void remove_at(struct processes *ps, struct process **link)
{
	struct process *p = *link;

	*link = p->next;
	ps->n--;
	ps->n_private -= p->owner != p->pid;
	ps->last = NULL;
	process_free(p);
}

void processes_remove_private(struct processes *ps, pid_t owner)
{
	for (size_t i = 0; ps->n_private && i < ps->n_buckets; i++) {
		struct process **link = &ps->buckets[i];

		while (*link) {
			if ((*link)->owner == owner && (*link)->pid != owner)
				remove_at(ps, link);
			else
				link = &(*link)->next;
		}
	}
}

void processes_remove(struct processes *ps, pid_t pid)
{
	processes_remove_private(ps, pid);
	if (!ps->n_buckets)
		return;
	for (struct process **link = bucket(ps, pid); *link; link = &(*link)->next) {
		if ((*link)->pid == pid) {
			remove_at(ps, link);
			return;
		}
	}
}

int process_set_text(char **text, const char *value)
{
	char *copy = strdup(value);

	if (!copy)
		return -ENOMEM;
	free(*text);
	*text = copy;
	return 0;
}
