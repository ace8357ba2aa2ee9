#include "lab/lab.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/meant.h"
#include "lab/fs.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Leaves room for a name, a node and a file in paths, and for a path in the address of a socket. */
#define ROOT_MAX 60

void lab_config_init(struct lab_config *c)
{
	*c = (struct lab_config){
		.name = LAB_DEFAULT_NAME,
		.fs = "gluster",
		.n_servers = 6,
		.n_clients = 6,
		.seed = 1,
		.disk_bytes = UINT64_C(1536) << 20,
		.hog_bytes = UINT64_C(256) << 20,
		.bandwidth_bytes = 30000000,
		.seek_min_us = 2000,
		.seek_max_us = 6000,
		.link_kbit = 100000,
		.cpu_percent = 50,
	};
}

int lab_prefix_set(struct lab_config *c, const char *prefix, struct lp_err *err)
{
	_cleanup_free_ char *real = realpath(prefix, NULL);

	if (!real)
		return lp_err_sys(err, -errno, "--prefix: %.200s", prefix);
	if (strlen(real) >= sizeof(c->prefix) || strpbrk(real, " \t\n\"\\"))
		return lp_err_set(err, -EINVAL,
			"--prefix: '%.200s' must have fewer than %zu characters and no blanks",
			real, sizeof(c->prefix));
	memcpy(c->prefix, real, strlen(real) + 1);
	return 0;
}

/* The user's directory, as it appears in the list of mounts. */
static int chosen_root(const char *root, char buf[LAB_DIR_MAX], struct lp_err *err)
{
	_cleanup_free_ char *real = *root == '/' ? realpath(root, NULL) : NULL;

	if (*root != '/' || strpbrk(root, " \t\n\"\\"))
		return lp_err_set(err, -EINVAL,
			"LIMPET_LAB_DIR is '%s': it must be an absolute path without blanks", root);
	if (!real)
		return lp_err_sys(err, -errno, "LIMPET_LAB_DIR is '%s'", root);
	if (strlen(real) > ROOT_MAX || strpbrk(real, " \t\n\"\\"))
		return lp_err_set(err, -EINVAL,
			"LIMPET_LAB_DIR is '%s': it must have at most %d characters and no blanks",
			real, ROOT_MAX);
	snprintf(buf, LAB_DIR_MAX, "%s", real);
	return 0;
}

int lab_root(char buf[LAB_DIR_MAX], struct lp_err *err)
{
	const char *root = getenv("LIMPET_LAB_DIR");

	if (root && *root)
		return chosen_root(root, buf, err);
	snprintf(buf, LAB_DIR_MAX, "%s", LAB_DEFAULT_ROOT);
	return 0;
}

int lab_name_check(const char *name, struct lp_err *err)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < len; i++) {
		if (!isalnum((unsigned char)name[i]))
			return lp_err_set(err, -EINVAL,
				"a lab cannot be called '%s': letters and digits only", name);
	}
	if (len < 1 || len >= LAB_NAME_MAX)
		return lp_err_set(err, -EINVAL, "the name of a lab has 1 to %d letters and digits",
			LAB_NAME_MAX - 1);
	return 0;
}

int lab_fs_unknown(const char *name, struct lp_err *err)
{
	char known[128] = "";
	struct meant m = {.word = name};

	for (const struct fs *const *f = file_systems; *f; f++) {
		size_t len = strlen(known);

		snprintf(known + len, sizeof(known) - len, "%s%s", len ? ", " : "", (*f)->name);
		meant_consider(&m, (*f)->name);
	}
	return lp_err_set(err, -EINVAL, "there is no file system '%.64s' for labs%s (there are %s)",
		name, meant_question(&m), known);
}

int lab_disk_check(uint64_t bytes, struct lp_err *err)
{
	if (bytes < UINT64_C(64) << 20 || bytes > UINT64_C(1) << 40)
		return lp_err_set(err, -EINVAL, "a lab's disk has 64 MiB to 1 TiB");
	return 0;
}

static int config_check(const struct lab_config *c, struct lp_err *err)
{
	int r = lab_name_check(c->name, err);

	if (r < 0)
		return r;
	if (!fs_find(c->fs))
		return lab_fs_unknown(c->fs, err);
	if (c->n_servers < 1 || c->n_clients < 1)
		return lp_err_set(err, -EINVAL, "a lab has at least one server and one client");
	if (c->n_servers >= LAB_NODES_MAX || c->n_clients >= LAB_NODES_MAX ||
		c->n_servers + c->n_clients >= LAB_NODES_MAX)
		return lp_err_set(err, -EINVAL, "a lab has at most %d servers and clients",
			LAB_NODES_MAX - 1);
	r = lab_disk_check(c->disk_bytes, err);
	if (r < 0)
		return r;
	if (c->hog_bytes > UINT64_C(1) << 40)
		return lp_err_set(err, -EINVAL, "a lab's second partition has at most 1 TiB");
	if (c->seek_min_us > c->seek_max_us)
		return lp_err_set(
			err, -EINVAL, "the shortest seek is longer than the longest seek");
	if (c->link_kbit < 100)
		return lp_err_set(err, -EINVAL, "a lab's links have at least 100 kbit/s");
	return 0;
}

struct lab_node *lab_add_node(struct lab *lab, enum lab_role role, unsigned number)
{
	static const char letters[] = {[LAB_SERVER] = 's', [LAB_CLIENT] = 'c', [LAB_OTHER] = 'x'};
	struct lab_node n = {.role = role};

	if (lab->n_nodes >= LAB_NODES_MAX || number < 1 || number >= LAB_NODES_MAX)
		return NULL;
	snprintf(n.name, sizeof(n.name), "%c%u", letters[role], number % 1000);
	snprintf(n.netns, sizeof(n.netns), "limpet-%s-%s", lab->config.name, n.name);
	snprintf(n.address, sizeof(n.address), "10.91.%u.%u", (unsigned)role + 1, number % 255);
	lab->nodes[lab->n_nodes] = n;
	return &lab->nodes[lab->n_nodes++];
}

int lab_init(struct lab *lab, const struct lab_config *c, struct lp_err *err)
{
	char root[LAB_DIR_MAX];
	int r = config_check(c, err);

	if (r == 0)
		r = lab_root(root, err);
	if (r < 0)
		return r;
	memset(lab, 0, sizeof(*lab));
	lab->config = *c;
	snprintf(lab->dir, sizeof(lab->dir), "%.*s/%s", ROOT_MAX, root, c->name);
	for (unsigned i = 1; i <= c->n_servers; i++)
		lab_add_node(lab, LAB_SERVER, i);
	for (unsigned i = 1; i <= c->n_clients; i++)
		lab_add_node(lab, LAB_CLIENT, i);
	lab_add_node(lab, LAB_OTHER, 1);
	return 0;
}

const struct lab_node *lab_node(const struct lab *lab, const char *name)
{
	for (unsigned i = 0; i < lab->n_nodes; i++) {
		if (!strcmp(lab->nodes[i].name, name))
			return &lab->nodes[i];
	}
	return NULL;
}

static const struct lab_node *nth(const struct lab *lab, enum lab_role role, unsigned n)
{
	for (unsigned i = 0; i < lab->n_nodes; i++) {
		if (lab->nodes[i].role == role && n-- == 0)
			return &lab->nodes[i];
	}
	return NULL;
}

const struct lab_node *lab_server(const struct lab *lab, unsigned i)
{
	return nth(lab, LAB_SERVER, i);
}

const struct lab_node *lab_client(const struct lab *lab, unsigned i)
{
	return nth(lab, LAB_CLIENT, i);
}

char *lab_path(const struct lab *lab, char buf[LAB_PATH_MAX], const char *fmt, ...)
{
	int n = snprintf(buf, LAB_PATH_MAX, "%s/", lab->dir);
	va_list args;

	va_start(args, fmt);
	vsnprintf(buf + n, LAB_PATH_MAX - (size_t)n, fmt, args);
	va_end(args);
	return buf;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_add(char ***names, size_t *cap, unsigned n, const char *name)
{
	char *copy = strdup(name);

	if (!copy || array_reserve(names, cap, n + 1, sizeof(**names)) < 0) {
		free(copy);
		return -ENOMEM;
	}
	(*names)[n] = copy;
	return 0;
}

static int list_dir(DIR *dir, char ***names, unsigned *n)
{
	size_t cap = 0;
	int r = 0;

	for (struct dirent *e = readdir(dir); e && r == 0; e = readdir(dir)) {
		if (e->d_type != DT_DIR || lab_name_check(e->d_name, NULL) < 0)
			continue;
		r = list_add(names, &cap, *n, e->d_name);
		*n += r == 0;
	}
	return r;
}

int lab_list(char ***ret_names, unsigned *ret_n, struct lp_err *err)
{
	char root[LAB_DIR_MAX], **names = NULL;
	_cleanup_closedir_ DIR *dir = NULL;
	unsigned n = 0;
	int r = lab_root(root, err);

	if (r < 0)
		return r;
	dir = opendir(root);
	if (!dir && errno != ENOENT)
		return lp_err_sys(err, -errno, "%s", root);
	if (dir)
		r = list_dir(dir, &names, &n);
	if (r < 0) {
		while (n)
			free(names[--n]);
		free(names);
		return lp_err_sys(err, r, "%s", root);
	}
	if (n)
		qsort(names, n, sizeof(*names), compare_names);
	*ret_names = names;
	*ret_n = n;
	return 0;
}

int lab_each(lab_fn *fn, void *ctx, unsigned *ret_n, struct lp_err *err)
{
	char **names = NULL;
	unsigned n = 0;
	int r = lab_list(&names, &n, err);

	if (r < 0)
		return r;
	for (unsigned i = 0; i < n; i++) {
		struct lp_err one = {0};
		int q = fn(names[i], ctx, &one);

		if (q < 0 && r == 0) {
			r = q;
			*err = one;
		}
		free(names[i]);
	}
	free(names);
	*ret_n = n;
	return r;
}
