#include "collect/tree.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "collect/parse_sys.h"
#include "collect/sysattr.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Longer files are truncated; columns after that are missing. */
#define TREE_BUFFER (256 * 1024)
/* A machine has fewer disks, ports and targets than this. */
#define TREE_ITEMS_MAX 16384

struct tree_item {
	struct tree_match match;
	char name[PARSE_NAME_MAX + 1];
	int *fds;	 /* one per file; -1: none */
	int64_t *slow;	 /* one per column: the last values of the slow files */
	unsigned n_slow; /* the number of these values */
	struct collect_row row;
	bool known; /* it has a row */
	bool seen;  /* by the current scan */
};

struct tree {
	const struct tree_def *def;
	const struct collect_config *config;
	unsigned generation;
	int64_t scanned_us, slow_us; /* when this was last done */
	bool started;
	struct tree_item *items;
	size_t n, cap;
	char *text;
};

/* The first `n` bytes of `pattern` with their stars replaced. */
static bool path_fill(
	const char *pattern, size_t n, const struct tree_match *m, char *ret, size_t size)
{
	unsigned star = 0;
	size_t len = 0;

	for (const char *p = pattern; p < pattern + n; p++) {
		const char *piece = *p == '*' ? m->star[star] : NULL;
		size_t more = piece ? strlen(piece) : 1;

		if (piece && star + 1 < TREE_STARS_MAX)
			star++;
		if (len + more >= size)
			return false;
		memcpy(ret + len, piece ? piece : p, more);
		len += more;
	}
	ret[len] = '\0';
	return true;
}

bool tree_path(const char *pattern, const struct tree_match *m, char *ret, size_t size)
{
	return path_fill(pattern, strlen(pattern), m, ret, size);
}

/* A walk, at one of the stars. */
struct walk {
	const struct proc_root *root;
	const char *pattern;
	tree_found_fn *found;
	void *ctx;
	struct tree_match match;
};

/* The part of a path between two slashes that contains a star. */
struct starred {
	const char *begin, *star, *end;
};

static bool starred_find(const char *pattern, unsigned number, struct starred *ret)
{
	const char *star = strchr(pattern, '*');

	while (star && number-- > 0)
		star = strchr(star + 1, '*');
	if (!star)
		return false;
	ret->star = ret->begin = star;
	while (ret->begin > pattern && ret->begin[-1] != '/')
		ret->begin--;
	ret->end = strchrnul(star, '/');
	return true;
}

/* Does `name` match? If so, what does the star match? */
static bool starred_match(const struct starred *s, const char *name, char ret[PARSE_NAME_MAX + 1])
{
	size_t before = (size_t)(s->star - s->begin), after = (size_t)(s->end - s->star - 1);
	size_t len = strlen(name);

	if (name[0] == '.' || len <= before + after || len - before - after > PARSE_NAME_MAX)
		return false;
	if (memcmp(name, s->begin, before) != 0 ||
		memcmp(name + len - after, s->star + 1, after) != 0)
		return false;
	memcpy(ret, name + before, len - before - after);
	ret[len - before - after] = '\0';
	return true;
}

static int walk_from(struct walk *w, unsigned number);

static int walk_entries(
	struct walk *w, unsigned number, const struct starred *s, struct dirent **entries, int n)
{
	int r = 0;

	for (int i = 0; i < n; i++) {
		if (r == 0 && starred_match(s, entries[i]->d_name, w->match.star[number]))
			r = walk_from(w, number + 1);
		free(entries[i]);
	}
	w->match.star[number][0] = '\0';
	return r;
}

/* All stars are matched: does the path exist? */
static int walk_end(struct walk *w)
{
	char path[PATH_MAX];

	if (!tree_path(w->pattern, &w->match, path, sizeof(path)) ||
		!sysattr_exists(w->root, "%s", path))
		return 0;
	return w->found(w->ctx, &w->match);
}

/* Try everything that star `number` can match. */
static int walk_from(struct walk *w, unsigned number)
{
	size_t root_len = strlen(w->root->dir);
	struct dirent **entries = NULL;
	char dir[PATH_MAX];
	struct starred s;
	int n, r;

	if (number == TREE_STARS_MAX || !starred_find(w->pattern, number, &s))
		return walk_end(w);
	if (root_len >= sizeof(dir))
		return 0;
	memcpy(dir, w->root->dir, root_len);
	if (!path_fill(w->pattern, (size_t)(s.begin - w->pattern), &w->match, dir + root_len,
		    sizeof(dir) - root_len))
		return 0;
	n = scandir(dir, &entries, NULL, alphasort);
	r = n < 0 ? 0 : walk_entries(w, number, &s, entries, n);
	free(entries);
	return r;
}

int tree_walk(const struct proc_root *root, const char *pattern, tree_found_fn *found, void *ctx)
{
	struct walk w = {.root = root, .pattern = pattern, .found = found, .ctx = ctx};

	return walk_from(&w, 0);
}

static void item_close(const struct tree *t, struct tree_item *item)
{
	for (unsigned i = 0; item->fds && i < t->def->n_files; i++) {
		if (item->fds[i] >= 0)
			close(item->fds[i]);
		item->fds[i] = -1;
	}
}

static void item_release(const struct tree *t, struct tree_item *item)
{
	item_close(t, item);
	free(item->fds);
	free(item->slow);
}

void tree_close(void *state)
{
	struct tree *t = state;

	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++)
		item_release(t, &t->items[i]);
	free(t->items);
	free(t->text);
	free(t);
}

DEFINE_CLEANUP(void *, tree_close);

static int file_connect(const struct tree *t, const struct tree_file *f, const struct tree_match *m)
{
	char path[PATH_MAX], full[PATH_MAX];

	for (unsigned i = 0; i < TREE_PATHS_MAX && f->paths[i]; i++) {
		int fd = -1;

		if (tree_path(f->paths[i], m, path, sizeof(path)) &&
			snprintf(full, sizeof(full), "%s%s", t->config->root->dir, path) <
				(int)sizeof(full))
			fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd >= 0)
			return fd;
	}
	return -1;
}

/* Open the files of a component; false if it has none. */
static bool item_connect(const struct tree *t, struct tree_item *item)
{
	bool any = false;

	item_close(t, item);
	for (unsigned i = 0; i < t->def->n_files; i++) {
		item->fds[i] = file_connect(t, &t->def->files[i], &item->match);
		any |= item->fds[i] >= 0;
	}
	return any;
}

static void values_clear(const struct tree *t, int64_t *values)
{
	for (uint32_t c = 0; c < t->def->schema->n_columns; c++)
		values[c] = LP_MISSING;
}

static int item_add(struct tree *t, const struct tree_match *m, const char *name)
{
	struct tree_item item = {.match = *m, .seen = true};

	if (t->n >= TREE_ITEMS_MAX)
		return 0;
	snprintf(item.name, sizeof(item.name), "%s", name);
	item.fds = calloc(t->def->n_files, sizeof(*item.fds));
	item.slow = calloc(t->def->schema->n_columns, sizeof(*item.slow));
	if (!item.fds || !item.slow ||
		array_reserve(&t->items, &t->cap, t->n + 1, sizeof(*t->items)) < 0) {
		free(item.fds);
		free(item.slow);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < t->def->n_files; i++)
		item.fds[i] = -1;
	values_clear(t, item.slow);
	if (item_connect(t, &item))
		t->items[t->n++] = item;
	else
		item_release(t, &item);
	return 0;
}

/* The name of a component if its collector does not make one. */
static bool plain_name(const struct tree_match *m, char ret[PARSE_NAME_MAX + 1])
{
	int n = snprintf(ret, PARSE_NAME_MAX + 1, "%s%s%s", m->star[0], m->star[1][0] ? "/" : "",
		m->star[1]);

	return n > 0 && n <= PARSE_NAME_MAX;
}

static int on_found(void *ctx, const struct tree_match *m)
{
	struct tree *t = ctx;
	char name[PARSE_NAME_MAX + 1];
	bool wanted = t->def->name ? t->def->name(t->config->root, m, name) : plain_name(m, name);

	if (!wanted)
		return 0;
	for (size_t i = 0; i < t->n; i++) {
		if (strcmp(t->items[i].name, name) != 0)
			continue;
		t->items[i].seen = true;
		return 0;
	}
	return item_add(t, m, name);
}

/* Forget components that are gone. */
static void scan_sweep(struct tree *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->n; i++) {
		if (t->items[i].seen)
			t->items[kept++] = t->items[i];
		else
			item_release(t, &t->items[i]);
	}
	t->n = kept;
}

static int tree_scan(struct tree *t)
{
	int r = 0;

	for (size_t i = 0; i < t->n; i++)
		t->items[i].seen = false;
	for (const char *const *p = t->def->patterns; r == 0 && *p; p++)
		r = tree_walk(t->config->root, *p, on_found, t);
	if (r == 0)
		scan_sweep(t);
	return r;
}

int tree_open(const struct tree_def *def, const struct collect_config *config, void **ret_state,
	struct lp_err *err)
{
	_cleanup_(tree_closep) void *state = calloc(1, sizeof(struct tree));
	struct tree *t = state;
	int r;

	if (!t)
		return lp_err_sys(err, -ENOMEM, "cannot collect %s", def->what);
	t->def = def;
	t->config = config;
	t->generation = config->root->generation;
	r = tree_scan(t);
	if (r < 0)
		return lp_err_sys(err, r, "cannot collect %s", def->what);
	if (!t->n)
		return lp_err_set(err, -ENOENT, "there are no %s here", def->what);
	t->text = malloc(TREE_BUFFER);
	if (!t->text)
		return lp_err_sys(err, -ENOMEM, "cannot collect %s", def->what);
	*ret_state = TAKE_PTR(state);
	return 0;
}

/* Read a file, as much as fits into the buffer; false if nothing could be read. */
static bool file_read(struct tree *t, int fd)
{
	size_t len = 0;

	for (;;) {
		ssize_t n = pread(fd, t->text + len, TREE_BUFFER - 1 - len, (off_t)len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
		/* The kernel returns long files page by page. */
		if (n < 2048 || len == TREE_BUFFER - 1)
			break;
	}
	t->text[len] = '\0';
	return len > 0;
}

static unsigned file_parse(struct tree *t, unsigned file, int fd, int64_t *values)
{
	const struct tree_file *f = &t->def->files[file];

	if (fd < 0 || !file_read(t, fd))
		return 0;
	return f->parse ? f->parse(t->text, values) : parse_number(t->text, &values[f->column]);
}

static void item_read_slow(struct tree *t, struct tree_item *item)
{
	values_clear(t, item->slow);
	item->n_slow = 0;
	for (unsigned i = 0; i < t->def->n_files; i++) {
		if (t->def->files[i].slow)
			item->n_slow += file_parse(t, i, item->fds[i], item->slow);
	}
}

/* All values of a component in this sample; returns their number. */
static unsigned item_read(struct tree *t, struct tree_item *item, bool slow, int64_t *values)
{
	unsigned found = 0;

	if (slow)
		item_read_slow(t, item);
	memcpy(values, item->slow, t->def->schema->n_columns * sizeof(*values));
	for (unsigned i = 0; i < t->def->n_files; i++) {
		if (!t->def->files[i].slow)
			found += file_parse(t, i, item->fds[i], values);
	}
	return found + item->n_slow;
}

static int item_enrol(
	struct tree *t, struct tree_item *item, struct collect_sink *sink, struct lp_err *err)
{
	_cleanup_free_ char *labels = NULL;
	struct strbuf sb = {0};
	int r;

	if (t->def->labels)
		t->def->labels(t->config->root, &item->match, &sb);
	labels = strbuf_take(&sb);
	if (!labels)
		return lp_err_sys(err, -ENOMEM, "cannot describe %s", item->name);
	r = collect_add_named(
		sink, t->def->schema, t->config->observer, item->name, labels, &item->row, err);
	item->known = r == 0;
	return r;
}

static int item_store(struct tree *t, struct tree_item *item, struct collect_sink *sink,
	int64_t *values, struct lp_err *err)
{
	bool fresh = !item->known || !collect_holds(sink, &item->row);
	int r = fresh ? item_enrol(t, item, sink, err) : 0;

	if (r < 0)
		return r;
	if (t->def->finish)
		t->def->finish(values);
	return collect_store(sink, &item->row, fresh, values, err);
}

/* Search for directories again if it is time, or if the tree has changed. */
static int tree_refresh(struct tree *t, int64_t now_us)
{
	bool other = t->generation != t->config->root->generation;
	int r;

	if (!t->started)
		t->scanned_us = now_us;
	if (!other && now_us - t->scanned_us < TREE_RESCAN_US)
		return 0;
	r = tree_scan(t);
	for (size_t i = 0; r == 0 && other && i < t->n; i++)
		item_connect(t, &t->items[i]);
	t->scanned_us = now_us;
	t->generation = t->config->root->generation;
	return r;
}

int tree_sample(void *state, struct collect_sink *sink, struct lp_err *err)
{
	struct tree *t = state;
	int64_t now_us = sink->batch->mono_us[sink->batch->n_samples - 1];
	bool other = t->generation != t->config->root->generation;
	int r = tree_refresh(t, now_us);
	bool slow = !t->started || other || now_us - t->slow_us >= TREE_SLOW_US;

	if (r < 0)
		return lp_err_sys(err, r, "cannot look for %s", t->def->what);
	if (slow)
		t->slow_us = now_us;
	t->started = true;
	for (size_t i = 0; r == 0 && i < t->n; i++) {
		struct tree_item *item = &t->items[i];
		int64_t values[TREE_COLUMNS_MAX];

		if (item_read(t, item, slow || !item->known, values))
			r = item_store(t, item, sink, values, err);
	}
	return r;
}
