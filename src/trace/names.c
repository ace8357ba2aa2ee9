#include "trace/names.h"

#include "base/array.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void names_release(struct names *n)
{
	idmap_release(&n->index);
	free(n->items);
	free(n->unused);
	*n = (struct names){0};
}

const char *names_get(const struct names *n, pid_t pid)
{
	uint32_t at;

	return idmap_get(&n->index, (uint64_t)pid, &at) ? n->items[at].text : NULL;
}

int names_set(struct names *n, pid_t pid, const char *text, size_t len)
{
	char copy[NAMES_TEXT_MAX]; /* a copy, because the name of another process moves when the
				    * array grows
				    */
	uint32_t at;

	len = len < sizeof(copy) ? len : sizeof(copy) - 1;
	memcpy(copy, text, len);

	if (!idmap_get(&n->index, (uint64_t)pid, &at)) {
		at = n->n_unused ? n->unused[n->n_unused - 1] : (uint32_t)n->n;
		if (array_reserve(&n->items, &n->cap, at + 1, sizeof(*n->items)) < 0 ||
			array_reserve(&n->unused, &n->cap_unused, at + 1, sizeof(*n->unused)) < 0 ||
			idmap_put(&n->index, (uint64_t)pid, at) < 0)
			return -ENOMEM;
		if (n->n_unused)
			n->n_unused--;
		else
			n->n++;
	}
	memcpy(n->items[at].text, copy, len);
	n->items[at].text[len] = '\0';
	return 0;
}

int names_exec(struct names *n, const struct trace_event *e)
{
	const char *slash = e->text_len ? memrchr(e->text, '/', e->text_len) : NULL;
	const char *name = slash ? slash + 1 : e->text;
	size_t len = e->text_len ? (size_t)(e->text + e->text_len - name) : 0;

	return len ? names_set(n, e->pid, name, len) : 0;
}

void names_drop(struct names *n, pid_t pid)
{
	uint32_t at;

	if (!idmap_get(&n->index, (uint64_t)pid, &at))
		return;
	idmap_remove(&n->index, (uint64_t)pid);
	n->unused[n->n_unused++] = at;
}
