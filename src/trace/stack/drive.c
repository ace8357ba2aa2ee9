#include "trace/stack/drive.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "model/yaml_doc.h"
#include "trace/stack/drives.inc" /* drives_text: data/drives.yaml */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX ((size_t)1 << 20)

void drives_release(struct drives *d)
{
	for (size_t i = 0; i < d->n; i++) {
		free(d->items[i].name);
		free(d->items[i].title);
	}
	free(d->items);
	*d = (struct drives){0};
}

static const char *const keys[] = {
	"name", "title", "active", "idle", "seek", "seek-ms", "spin", "spin-s", "standby-s", NULL};
enum { KEY_NAME, KEY_TITLE, KEY_NUMBERS, KEYS = 9 };

static double *number_of(struct drive *d, unsigned key)
{
	double *const places[KEYS] = {[KEY_NUMBERS] = &d->active_w,
		&d->idle_w,
		&d->seek_w,
		&d->seek_ms,
		&d->spin_w,
		&d->spin_s,
		&d->standby_s};

	return places[key];
}

static int read_value(
	const struct yaml_doc *doc, const yaml_node_t *value, unsigned key, struct drive *d)
{
	if (key == KEY_NAME)
		return yaml_doc_text(doc, value, keys[key], &d->name);
	if (key == KEY_TITLE)
		return yaml_doc_text(doc, value, keys[key], &d->title);
	return yaml_doc_number(doc, value, keys[key], 0, 1e6, number_of(d, key));
}

/* What a drive must have, and what follows from it. */
static int drive_complete(const struct yaml_doc *doc, const yaml_node_t *node, struct drive *d)
{
	if (!d->name)
		return yaml_doc_error(doc, node, "a drive has no name");
	if (!(d->active_w > 0))
		return yaml_doc_error(
			doc, node, "the drive '%.64s' has no 'active' power", d->name);
	if (d->idle_w > d->active_w)
		return yaml_doc_error(doc, node,
			"the drive '%.64s' takes more power when idle than when active", d->name);
	if (!(d->seek_w > 0))
		d->seek_w = d->active_w;
	return 0;
}

static int read_drive(void *ctx, const struct yaml_doc *doc, const yaml_node_t *node)
{
	struct drives *all = ctx;
	struct drive *d;
	unsigned seen = 0;
	int r;

	if (node->type != YAML_MAPPING_NODE)
		return yaml_doc_error(doc, node, "a drive must have lines 'key: value'");
	if (array_reserve(&all->items, &all->cap, all->n + 1, sizeof(*all->items)) < 0)
		return lp_err_sys(doc->err, -ENOMEM, "cannot read %s", doc->name);
	d = &all->items[all->n++];
	*d = (struct drive){0};
	r = 0;
	for (const yaml_node_pair_t *p = node->data.mapping.pairs.start;
		r == 0 && p < node->data.mapping.pairs.top; p++) {
		unsigned key = 0;

		r = yaml_doc_key(doc, p, keys, &seen, &key);
		if (r == 0)
			r = read_value(doc, yaml_doc_node(doc, p->value), key, d);
	}
	if (r == 0)
		r = drive_complete(doc, node, d);
	return r;
}

static int read_root(void *ctx, const struct yaml_doc *doc, const yaml_node_t *root)
{
	static const char *const root_keys[] = {"drives", NULL};
	unsigned seen = 0, key;
	int r = 0;

	if (root->type != YAML_MAPPING_NODE)
		return yaml_doc_error(doc, root, "a file of drives must have a list 'drives:'");
	for (const yaml_node_pair_t *p = root->data.mapping.pairs.start;
		r == 0 && p < root->data.mapping.pairs.top; p++) {
		r = yaml_doc_key(doc, p, root_keys, &seen, &key);
		if (r == 0)
			r = yaml_doc_each(
				doc, yaml_doc_node(doc, p->value), "drives", read_drive, ctx);
	}
	return r;
}

int drives_parse(
	const char *text, size_t len, const char *name, struct drives *ret, struct lp_err *err)
{
	return yaml_doc_read(text, len, name, read_root, ret, err);
}

int drives_load(const char *path, struct drives *ret, struct lp_err *err)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	if (!path)
		return drives_parse(
			(const char *)drives_text, sizeof(drives_text), "drives.yaml", ret, err);
	r = file_slurp(path, FILE_MAX, &text, &len, err);
	return r < 0 ? r : drives_parse(text, len, path, ret, err);
}

const struct drive *drives_find(const struct drives *d, const char *name)
{
	for (size_t i = 0; i < d->n; i++) {
		if (!strcmp(d->items[i].name, name))
			return &d->items[i];
	}
	return NULL;
}

double drive_access(const struct drive *d, struct drive_state *s, int64_t start_ns, int64_t end_ns,
	int64_t offset, int64_t bytes)
{
	int64_t from = s->used && s->busy_until_ns > start_ns ? s->busy_until_ns : start_ns;
	double busy = end_ns > from ? (double)(end_ns - from) / 1e9 : 0, seek = 0, joules;
	double idle = s->used ? (double)(start_ns - s->busy_until_ns) / 1e9 : 0;

	if (offset >= 0 && !(s->used && offset == s->next_offset))
		seek = d->seek_ms / 1e3 < busy ? d->seek_ms / 1e3 : busy;
	joules = (busy - seek) * (d->active_w - d->idle_w) + seek * (d->seek_w - d->idle_w);
	if (d->standby_s > 0 && idle > d->standby_s)
		joules += d->spin_s * (d->spin_w - d->idle_w);
	if (!s->used || end_ns > s->busy_until_ns)
		s->busy_until_ns = end_ns;
	s->next_offset = offset >= 0 ? offset + bytes : -1;
	s->used = 1;
	return joules;
}
