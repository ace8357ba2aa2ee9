#include "lab/lab_state.h"

#include "base/cleanup.h"
#include "base/file.h"
#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>

#define STATE_BYTES_MAX (1 << 20)

static json_t *nodes_json(const struct lab *lab)
{
	json_t *nodes = json_array();

	for (unsigned i = 0; i < lab->n_nodes; i++) {
		const struct lab_node *n = &lab->nodes[i];

		json_array_append_new(nodes,
			json_pack("{s:s,s:s,s:s,s:s,s:s}", "name", n->name, "netns", n->netns,
				"address", n->address, "loop", n->loop, "cgroup", n->cgroup));
	}
	return nodes;
}

static json_t *state_json(const struct lab *lab)
{
	const struct lab_config *c = &lab->config;

	return json_pack(
		"{s:s, s:s, s:s, s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}",
		"limpet", LIMPET_VERSION, "name", c->name, "fs", c->fs, "prefix", c->prefix,
		"complete", lab->complete, "servers", (json_int_t)c->n_servers, "clients",
		(json_int_t)c->n_clients, "seed", (json_int_t)c->seed, "disk_bytes",
		(json_int_t)c->disk_bytes, "hog_bytes", (json_int_t)c->hog_bytes, "bandwidth_bytes",
		(json_int_t)c->bandwidth_bytes, "seek_min_us", (json_int_t)c->seek_min_us,
		"seek_max_us", (json_int_t)c->seek_max_us, "link_kbit", (json_int_t)c->link_kbit,
		"cpu_percent", (json_int_t)c->cpu_percent, "nodes", nodes_json(lab));
}

int lab_state_save(const struct lab *lab, struct lp_err *err)
{
	char path[LAB_PATH_MAX], tmp[LAB_PATH_MAX];
	json_auto_t *root = state_json(lab);

	lab_path(lab, path, "lab.json");
	lab_path(lab, tmp, "lab.json.new");
	if (!root)
		return lp_err_sys(err, -ENOMEM, "%s", path);
	if (json_dump_file(root, tmp, JSON_INDENT(2)) < 0 || rename(tmp, path) < 0)
		return lp_err_sys(err, errno ? -errno : -EIO, "%s", path);
	return 0;
}

static bool copy_text(char *to, size_t size, const char *from)
{
	size_t len = strlen(from);

	if (len >= size || strpbrk(from, " \t\n"))
		return false;
	memcpy(to, from, len + 1);
	return true;
}

/* Values that were found while building; the rest of a node follows from the configuration. */
static int parse_nodes(const json_t *nodes, struct lab *lab, struct lp_err *err)
{
	size_t i;
	json_t *item;

	json_array_foreach(nodes, i, item)
	{
		const char *name = "", *loop = "", *cgroup = "";
		struct lab_node *n;

		json_unpack(item, "{s?s,s?s,s?s}", "name", &name, "loop", &loop, "cgroup", &cgroup);
		n = (struct lab_node *)lab_node(lab, name);
		if (!n)
			return lp_err_set(
				err, -EINVAL, "node %zu does not belong to this lab", i + 1);
		if (!copy_text(n->loop, sizeof(n->loop), loop) ||
			!copy_text(n->cgroup, sizeof(n->cgroup), cgroup))
			return lp_err_set(err, -EINVAL, "node %s has a bad path", n->name);
	}
	return 0;
}

/* Numbers of the file, before the range check. */
struct numbers {
	json_int_t servers, clients, seed, disk, hog, bandwidth, seek_min, seek_max, link, cpu;
};

static bool numbers_fit(const struct numbers *n)
{
	const json_int_t small[] = {
		n->servers, n->clients, n->seek_min, n->seek_max, n->link, n->cpu};

	for (size_t i = 0; i < sizeof(small) / sizeof(small[0]); i++) {
		if (small[i] < 0 || small[i] > UINT32_MAX)
			return false;
	}
	return n->disk >= 0 && n->hog >= 0 && n->bandwidth >= 0;
}

static void numbers_use(const struct numbers *n, struct lab_config *c)
{
	c->n_servers = (unsigned)n->servers;
	c->n_clients = (unsigned)n->clients;
	c->seed = (uint64_t)n->seed;
	c->disk_bytes = (uint64_t)n->disk;
	c->hog_bytes = (uint64_t)n->hog;
	c->bandwidth_bytes = (uint64_t)n->bandwidth;
	c->seek_min_us = (uint32_t)n->seek_min;
	c->seek_max_us = (uint32_t)n->seek_max;
	c->link_kbit = (uint32_t)n->link;
	c->cpu_percent = (uint32_t)n->cpu;
}

int lab_state_parse(const char *text, struct lab *ret, struct lp_err *err)
{
	json_error_t bad = {0};
	json_auto_t *root = json_loads(text, 0, &bad);
	const char *name = NULL, *fs = NULL, *prefix = "";
	struct lab_config c = {0};
	struct numbers n = {0};
	struct lab lab = {0};
	json_t *nodes = NULL;
	int complete = 0, r;

	if (!root)
		return lp_err_set(err, -EINVAL, "line %d: %s", bad.line, bad.text);
	if (json_unpack_ex(root, &bad, 0,
		    "{s:s, s:s, s?s, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}",
		    "name", &name, "fs", &fs, "prefix", &prefix, "complete", &complete, "servers",
		    &n.servers, "clients", &n.clients, "seed", &n.seed, "disk_bytes", &n.disk,
		    "hog_bytes", &n.hog, "bandwidth_bytes", &n.bandwidth, "seek_min_us",
		    &n.seek_min, "seek_max_us", &n.seek_max, "link_kbit", &n.link, "cpu_percent",
		    &n.cpu, "nodes", &nodes) < 0)
		return lp_err_set(err, -EINVAL, "%s", bad.text);
	if (!copy_text(c.name, sizeof(c.name), name) || !copy_text(c.fs, sizeof(c.fs), fs) ||
		!copy_text(c.prefix, sizeof(c.prefix), prefix) || !numbers_fit(&n))
		return lp_err_set(err, -EINVAL, "a value is out of range");
	numbers_use(&n, &c);
	r = lab_init(&lab, &c, err);
	if (r == 0)
		r = parse_nodes(nodes, &lab, err);
	if (r < 0)
		return r;
	lab.complete = complete;
	*ret = lab;
	return 0;
}

int lab_load(const char *name, struct lab *ret, struct lp_err *err)
{
	_cleanup_free_ char *text = NULL;
	char dir[LAB_DIR_MAX], path[LAB_PATH_MAX];
	struct lab lab;
	struct stat st;
	size_t size;
	int r = lab_name_check(name, err);

	if (r == 0)
		r = lab_root(dir, err);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (lstat(path, &st) < 0)
		return lp_err_set(
			err, -ENOENT, "there is no lab '%s' ('limpet lab up' makes one)", name);
	snprintf(path, sizeof(path), "%s/%s/lab.json", dir, name);
	r = file_slurp(path, STATE_BYTES_MAX, &text, &size, err);
	if (r == 0)
		r = lab_state_parse(text, &lab, err);
	if (r == 0 && strcmp(lab.config.name, name) != 0)
		r = lp_err_set(err, -EINVAL, "it describes lab '%s'", lab.config.name);
	if (r < 0) {
		lp_err_prefix(
			err, "lab '%s' is damaged ('limpet lab down' removes it): %s", name, path);
		return -EINVAL;
	}
	*ret = lab;
	return 0;
}
