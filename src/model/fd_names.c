#include "model/fd_names.h"

#include "base/array.h"
#include "base/hash.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FD_MAX (1 << 22)

struct named {
	uint32_t name; /* 1 + its index in `texts`; 0: not open */
	uint8_t file;
};

struct names_of {
	struct names_of *next; /* in the same bucket */
	int32_t pid;
	struct named *fds;
	size_t cap;
};

/* Names repeat, so each is stored once and never freed. */
struct fd_names {
	struct names_of *buckets[1024];
	struct strmap places;
	char **texts;
	size_t n_texts, cap_texts;
};

struct fd_names *fd_names_new(void)
{
	return calloc(1, sizeof(struct fd_names));
}

static struct names_of **link_of(struct fd_names *n, int32_t pid)
{
	struct names_of **link = &n->buckets[(uint32_t)pid % ARRAY_SIZE(n->buckets)];

	while (*link && (*link)->pid != pid)
		link = &(*link)->next;
	return link;
}

static const struct names_of *find(const struct fd_names *n, int32_t pid)
{
	const struct names_of *p = n->buckets[(uint32_t)pid % ARRAY_SIZE(n->buckets)];

	while (p && p->pid != pid)
		p = p->next;
	return p;
}

void fd_names_forget(struct fd_names *n, int32_t pid)
{
	struct names_of **link = link_of(n, pid), *p = *link;

	if (!p)
		return;
	*link = p->next;
	free(p->fds);
	free(p);
}

void fd_names_free(struct fd_names *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(n->buckets); i++) {
		while (n->buckets[i])
			fd_names_forget(n, n->buckets[i]->pid);
	}
	for (size_t i = 0; i < n->n_texts; i++)
		free(n->texts[i]);
	free(n->texts);
	strmap_release(&n->places);
	free(n);
}

static int intern(struct fd_names *n, const char *name, uint32_t *ret)
{
	char *copy;

	if (strmap_get(&n->places, name, ret))
		return 0;
	if (array_reserve(&n->texts, &n->cap_texts, n->n_texts + 1, sizeof(*n->texts)) < 0)
		return -ENOMEM;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	*ret = (uint32_t)n->n_texts;
	n->texts[n->n_texts++] = copy;
	return strmap_put(&n->places, name, *ret);
}

static struct names_of *make(struct fd_names *n, int32_t pid)
{
	struct names_of **link = link_of(n, pid);

	if (!*link) {
		*link = calloc(1, sizeof(**link));
		if (*link)
			(*link)->pid = pid;
	}
	return *link;
}

static int inherit(struct fd_names *n, int32_t child, int32_t parent)
{
	const struct names_of *from = find(n, parent);
	struct names_of *to;

	if (child == parent)
		return 0;
	fd_names_forget(n, child);
	to = from ? make(n, child) : NULL;
	if (!from)
		return 0;
	if (!to || array_reserve(&to->fds, &to->cap, from->cap, sizeof(*to->fds)) < 0)
		return -ENOMEM;
	if (from->cap)
		memcpy(to->fds, from->fds, from->cap * sizeof(*from->fds));
	return 0;
}

int fd_names_apply(struct fd_names *n, const struct trace_descriptor *d)
{
	struct names_of *p;
	uint32_t place;

	if (d->change == TRACE_FD_FORK)
		return inherit(n, d->pid, d->from);
	if (d->fd < 0 || d->fd >= FD_MAX)
		return 0;
	p = make(n, d->pid);
	if (!p)
		return -ENOMEM;
	if (d->change == TRACE_FD_CLOSE || d->change == TRACE_FD_EXEC) {
		if ((size_t)d->fd < p->cap)
			p->fds[d->fd] = (struct named){0};
		return 0;
	}
	if (intern(n, d->name ? d->name : "", &place) < 0 ||
		array_reserve(&p->fds, &p->cap, (size_t)d->fd + 1, sizeof(*p->fds)) < 0)
		return -ENOMEM;
	p->fds[d->fd] = (struct named){.name = place + 1, .file = d->file};
	return 0;
}

static const struct named *get(const struct fd_names *n, int32_t pid, int fd)
{
	const struct names_of *p = find(n, pid);

	return p && fd >= 0 && (size_t)fd < p->cap && p->fds[fd].name ? &p->fds[fd] : NULL;
}

const char *fd_names_get(const struct fd_names *n, int32_t pid, int fd)
{
	const struct named *named = get(n, pid, fd);

	return named ? n->texts[named->name - 1] : NULL;
}

unsigned fd_names_file(const struct fd_names *n, int32_t pid, int fd)
{
	const struct named *named = get(n, pid, fd);

	return named ? named->file : TRACE_FILE_NONE;
}
