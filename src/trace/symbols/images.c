#include "trace/symbols/images.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/hash.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static void image_free(struct image *i)
{
	if (!i)
		return;
	elf_image_release(&i->elf);
	free(i->name);
	free(i);
}

DEFINE_CLEANUP(struct image *, image_free);

void images_release(struct images *s)
{
	for (size_t i = 0; i < s->n; i++)
		image_free(s->items[i]);
	free(s->items);
	idmap_release(&s->by_id);
	idmap_release(&s->by_file);
	*s = (struct images){0};
}

static uint64_t id_hash(const struct build_id *id)
{
	return hash_bytes(id->bytes, sizeof(id->bytes));
}

struct image *images_find(struct images *s, const struct build_id *id)
{
	uint32_t at;

	if (!id->known || !idmap_get(&s->by_id, id_hash(id), &at) ||
		memcmp(s->items[at]->elf.id.bytes, id->bytes, sizeof(id->bytes)) != 0)
		return NULL;
	s->items[at]->used = s->period;
	return s->items[at];
}

static int file_hash(int fd, uint64_t *ret)
{
	uint64_t facts[5];
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	facts[0] = st.st_dev;
	facts[1] = st.st_ino;
	facts[2] = (uint64_t)st.st_size;
	facts[3] = (uint64_t)st.st_mtim.tv_sec;
	facts[4] = (uint64_t)st.st_mtim.tv_nsec;
	*ret = hash_bytes(facts, sizeof(facts));
	return 0;
}

/* Add it to the index. */
static int image_index(struct images *s, size_t at)
{
	const struct image *i = s->items[at];
	int r = idmap_put(&s->by_file, i->file, (uint32_t)at);

	return r == 0 && i->elf.id.known ? idmap_put(&s->by_id, id_hash(&i->elf.id), (uint32_t)at)
					 : r;
}

static int image_add(struct images *s, int fd, const char *path, uint64_t file, struct image **ret)
{
	_cleanup_(image_freep) struct image *image = calloc(1, sizeof(*image));
	int r;

	if (!image)
		return -ENOMEM;
	image->file = file;
	image->used = s->period;
	image->name = strdup(path_basename(path));
	r = elf_image_read(fd, s->debug_dir, &image->elf);
	if (r < 0 && r != -ENOEXEC)
		return r;
	if (!image->name || array_reserve(&s->items, &s->cap, s->n + 1, sizeof(struct image *)) < 0)
		return -ENOMEM;
	*ret = s->items[s->n++] = TAKE_PTR(image);
	return image_index(s, s->n - 1);
}

int images_open(struct images *s, int fd, const char *path, struct image **ret)
{
	struct elf_image head = {0};
	uint64_t file = 0;
	uint32_t at;
	int r = file_hash(fd, &file);

	if (r < 0)
		return r;
	if (idmap_get(&s->by_file, file, &at)) {
		*ret = s->items[at];
		(*ret)->used = s->period;
		return 0;
	}
	/* The same file may exist twice: in a container, or as a copy. */
	if (elf_image_identify(fd, &head) == 0 && (*ret = images_find(s, &head.id)))
		return idmap_get(&s->by_id, id_hash(&head.id), &at)
			? idmap_put(&s->by_file, file, at)
			: 0;
	return image_add(s, fd, path, file, ret);
}

static void images_reindex(struct images *s)
{
	idmap_clear(&s->by_id);
	idmap_clear(&s->by_file);
	/* This cannot fail: there was room for more. */
	for (size_t i = 0; i < s->n; i++)
		image_index(s, i);
}

void images_tick(struct images *s)
{
	size_t n = 0;

	s->period++;
	for (size_t i = 0; i < s->n; i++) {
		if (s->items[i]->used + IMAGES_PERIODS < s->period)
			image_free(s->items[i]);
		else
			s->items[n++] = s->items[i];
	}
	if (n < s->n) {
		s->n = n;
		images_reindex(s);
	}
}
