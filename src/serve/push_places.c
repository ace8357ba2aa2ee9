#include "serve/push_places.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/output.h"
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES_MAX ((size_t)64 << 20)

void push_places_release(struct push_places *p)
{
	strmap_release(&p->by_file);
	free(p->items);
	*p = (struct push_places){0};
}

int64_t push_places_begin(const struct push_places *p, const char *file)
{
	uint32_t at;

	return strmap_get(&p->by_file, file, &at) ? p->items[at].begin_us : INT64_MIN;
}

int push_places_take(struct push_places *p, const char *file, int64_t us)
{
	uint32_t at;

	if (!strmap_get(&p->by_file, file, &at)) {
		if (array_reserve(&p->items, &p->cap, p->n + 1, sizeof(*p->items)) < 0 ||
			strmap_put(&p->by_file, file, (uint32_t)p->n) < 0)
			return -ENOMEM;
		at = (uint32_t)p->n++;
		p->items[at] = (struct push_place){INT64_MIN, INT64_MIN, INT64_MIN};
	}
	p->items[at].taken_us = us;
	return 0;
}

void push_places_arrived(struct push_places *p)
{
	for (size_t i = 0; i < p->n; i++) {
		p->changed |= p->items[i].sent_us != p->items[i].taken_us;
		p->items[i].sent_us = p->items[i].taken_us;
	}
}

static int places_read(struct push_places *p, json_t *root)
{
	json_t *files = json_object_get(root, "sent_us"), *us;
	const char *file;
	int r = json_is_object(files) ? 0 : -EBADMSG;

	json_object_foreach(files, file, us)
	{
		if (r == 0)
			r = json_is_integer(us) ? push_places_take(p, file, json_integer_value(us))
						: -EBADMSG;
	}
	push_places_arrived(p);
	for (size_t i = 0; i < p->n; i++)
		p->items[i].begin_us = p->items[i].sent_us;
	p->begun_us = json_integer_value(json_object_get(root, "begun_us"));
	p->changed = false;
	return r;
}

int push_places_parse(struct push_places *p, const char *text, size_t size)
{
	json_t *root = json_loadb(text, size, 0, NULL);
	int r = root ? places_read(p, root) : -EBADMSG;

	json_decref(root);
	return r;
}

int push_places_load(struct push_places *p, const char *dir, struct lp_err *err)
{
	_cleanup_free_ char *text = NULL;
	char path[4096];
	size_t size;
	int r;

	snprintf(path, sizeof(path), "%s/" PUSH_PLACES_FILE, dir);
	if (access(path, F_OK) < 0 && errno == ENOENT)
		return 0;
	r = file_slurp(path, BYTES_MAX, &text, &size, err);
	if (r < 0)
		return r;
	r = push_places_parse(p, text, size);
	if (r == -EBADMSG)
		return lp_err_set(err, r,
			"%s is damaged: remove it, and sending begins anew with what arrives",
			path);
	return r < 0 ? lp_err_sys(err, r, "cannot read %s", path) : 1;
}

static char *places_text(const struct push_places *p, int64_t oldest_us)
{
	json_t *root = json_object(), *files = json_object();
	const char *file;
	char *text = NULL;
	size_t walk = 0;
	uint32_t at;
	bool failed = false;

	while (strmap_next(&p->by_file, &walk, &file, &at)) {
		if (p->items[at].sent_us > oldest_us)
			failed |= json_object_set_new_nocheck(
					  files, file, json_integer(p->items[at].sent_us)) < 0;
	}
	failed |= json_object_set_new(root, "begun_us", json_integer(p->begun_us)) < 0 ||
		json_object_set_new(root, "sent_us", files) < 0;
	if (!failed)
		text = json_dumps(root, JSON_INDENT(1) | JSON_SORT_KEYS);
	json_decref(root);
	return text;
}

int push_places_save(struct push_places *p, const char *dir, int64_t oldest_us, struct lp_err *err)
{
	_cleanup_(output_release) struct output out = {0};
	_cleanup_free_ char *text = NULL;
	char path[4096];
	int r;

	if (!p->changed)
		return 0;
	snprintf(path, sizeof(path), "%s/" PUSH_PLACES_FILE, dir);
	text = places_text(p, oldest_us);
	if (!text)
		return lp_err_sys(err, -ENOMEM, "cannot write %s", path);
	r = output_open(&out, path, err);
	if (r < 0)
		return r;
	r = file_pwrite_full(out.fd, text, strlen(text), 0);
	if (r < 0)
		return lp_err_sys(err, r, "cannot write %s", path);
	r = output_commit(&out, path, err);
	p->changed = r < 0;
	return r;
}
