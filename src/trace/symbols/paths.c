#include "trace/symbols/paths.h"

#include "base/array.h"
#include "base/cleanup.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>

void paths_release(struct paths *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->items[i]);
	free(p->items);
	strmap_release(&p->index);
	idmap_release(&p->by_id);
	*p = (struct paths){0};
}

int paths_note(struct paths *p, const char *path)
{
	char *copy;
	uint32_t at;

	if (path[0] != '/' || p->n >= PATHS_MAX || strmap_get(&p->index, path, &at))
		return 0;
	copy = strdup(path);
	if (!copy || array_reserve(&p->items, &p->cap, p->n + 1, sizeof(char *)) < 0 ||
		strmap_put(&p->index, path, (uint32_t)p->n) < 0) {
		free(copy);
		return -ENOMEM;
	}
	p->items[p->n++] = copy;
	return 0;
}

/* Read the build-id of this file. The path may be a device or a pipe. */
static void look_into(struct paths *p, uint32_t at)
{
	_cleanup_close_ int fd = open(p->items[at], O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct elf_image head;

	if (fd >= 0 && elf_image_identify(fd, &head) == 0 && head.id.known)
		/* If memory runs out, it is just not found. */
		idmap_put(&p->by_id, hash_bytes(head.id.bytes, sizeof(head.id.bytes)), at);
}

const char *paths_find(struct paths *p, const struct build_id *id)
{
	uint32_t at;

	while (p->n_seen < p->n)
		look_into(p, (uint32_t)p->n_seen++);
	return idmap_get(&p->by_id, hash_bytes(id->bytes, sizeof(id->bytes)), &at) ? p->items[at]
										   : NULL;
}

void paths_again(struct paths *p)
{
	if (p->n >= PATHS_MAX) {
		paths_release(p);
		return;
	}
	p->n_seen = 0;
	idmap_clear(&p->by_id);
}
