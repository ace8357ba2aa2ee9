#include "base/cleanup.h"
#include "lab/lab.h"
#include "lab/mounts.h"
#include "lab/tool.h"
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool runs(const struct lab *lab, const struct lab_node *node, const char *what)
{
	char path[LAB_PATH_MAX];

	return tool_pid(lab_path(lab, path, "run/%s-%s.pid", node->name, what)) > 0;
}

/* The file "s1-disk-hog.fault" in DIR/run means that there is a disk-hog on s1. */
static void list_faults(const struct lab *lab, const struct lab_node *node, char *buf, size_t size)
{
	char path[LAB_PATH_MAX];
	size_t node_len = strlen(node->name);
	_cleanup_closedir_ DIR *dir = opendir(lab_path(lab, path, "run"));

	*buf = '\0';
	if (!dir)
		return;
	for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
		const char *end = strrchr(e->d_name, '.');
		size_t len = strlen(buf);

		if (!end || strcmp(end, ".fault") != 0 ||
			strncmp(e->d_name, node->name, node_len) != 0 || e->d_name[node_len] != '-')
			continue;
		snprintf(buf + len, size - len, "%s%.*s", len ? " " : "",
			(int)(end - e->d_name - (long)node_len - 1), e->d_name + node_len + 1);
	}
}

void lab_health(const struct lab *lab, const struct lab_node *node, struct lab_health *ret)
{
	bool server = node->role == LAB_SERVER, client = node->role == LAB_CLIENT;
	char path[LAB_PATH_MAX];

	memset(ret, 0, sizeof(*ret));
	snprintf(path, sizeof(path), "/run/netns/%s", node->netns);
	ret->netns = access(path, F_OK) == 0;
	ret->disk = server && runs(lab, node, "disk");
	ret->brick = server && mounts_has(lab_path(lab, path, "%s/brick", node->name));
	ret->fs = (server || client) && runs(lab, node, "fs");
	if (client && !mounts_has(lab_path(lab, path, "%s/mnt", node->name)))
		ret->fs = false;
	ret->work = client && runs(lab, node, "work");
	ret->record = runs(lab, node, "record");
	ret->well = ret->netns && (!server || (ret->disk && ret->brick)) &&
		(ret->fs || node->role == LAB_OTHER);
	list_faults(lab, node, ret->faults, sizeof(ret->faults));
}
