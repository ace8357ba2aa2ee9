#include "collect/diskname.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "collect/sysattr.h"
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* No machine has more links, but a recorded tree might. */
#define LINKS_MAX 100000

/* Rank the links to a disk: world-wide names come first, because they are the same on every server;
 * names that depend on its use (an LVM volume) come last. */
static unsigned link_rank(const char *link)
{
	static const char *const order[] = {"wwn-", "nvme-eui.", "nvme-uuid.", "scsi-3", "scsi-",
		"ata-", "nvme-", "virtio-", "usb-", "md-uuid-", "dm-uuid-"};
	static const char *const last[] = {"dm-name-", "md-name-", "lvm-pv-uuid-"};

	for (unsigned i = 0; i < ARRAY_SIZE(order); i++) {
		if (!strncmp(link, order[i], strlen(order[i])))
			return i;
	}
	for (unsigned i = 0; i < ARRAY_SIZE(last); i++) {
		if (!strncmp(link, last[i], strlen(last[i])))
			return ARRAY_SIZE(order) + 1 + i;
	}
	return ARRAY_SIZE(order);
}

/* The order in which a directory is read must not matter, so equal ranks are sorted by name. */
static bool link_better(const char *a, const char *b)
{
	unsigned ra = link_rank(a), rb = link_rank(b);

	return ra < rb || (ra == rb && strcmp(a, b) < 0);
}

static int links_add(struct diskname_links *l, const char *target, const char *link)
{
	uint32_t at;
	bool known = strmap_get(&l->targets, target, &at);
	char *copy;

	if (known && !link_better(link, l->names[at]))
		return 0;
	copy = strdup(link);
	if (!copy)
		return -ENOMEM;
	if (known) {
		free(l->names[at]);
		l->names[at] = copy;
		return 0;
	}
	if (array_reserve(&l->names, &l->cap, l->n + 1, sizeof(*l->names)) < 0 ||
		strmap_put(&l->targets, target, (uint32_t)l->n) < 0) {
		free(copy);
		return -ENOMEM;
	}
	l->names[l->n++] = copy;
	return 0;
}

/* "../../cciss/c0d0" -> "cciss/c0d0", the form of /proc/diskstats. */
static const char *link_target(const char *text)
{
	while (!strncmp(text, "../", 3))
		text += 3;
	return text;
}

static int links_load(struct diskname_links *l, const struct proc_root *root)
{
	char path[PATH_MAX], target[PATH_MAX];
	struct dirent *entry;
	_cleanup_closedir_ DIR *dir = NULL;
	int r = 0;

	l->loaded = true;
	if (snprintf(path, sizeof(path), "%s/dev/disk/by-id", root->dir) >= (int)sizeof(path))
		return 0;
	dir = opendir(path);
	if (!dir)
		return 0; /* no udev: use the other names */
	while (r == 0 && l->n < LINKS_MAX && (entry = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

		if (n <= 0)
			continue;
		target[n] = '\0';
		r = links_add(l, link_target(target), entry->d_name);
	}
	return r;
}

void diskname_links_release(struct diskname_links *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->names[i]);
	free(l->names);
	strmap_release(&l->targets);
	*l = (struct diskname_links){0};
}

/* Length of the trailing digits of a name. */
static size_t trailing_digits(const char *name, size_t len)
{
	size_t n = 0;

	while (n < len && isdigit((unsigned char)name[len - 1 - n]))
		n++;
	return n;
}

bool diskname_looks_partition(const char *name)
{
	static const char *const lettered[] = {"sd", "hd", "vd", "xvd"};
	size_t len = strlen(name), digits = trailing_digits(name, len);

	if (digits == 0)
		return false;
	len -= digits;
	if (len >= 2 && name[len - 1] == 'p' && isdigit((unsigned char)name[len - 2]))
		return true; /* nvme0n1p2, mmcblk0p1, md0p1, cciss/c0d0p1 */
	for (size_t i = 0; i < ARRAY_SIZE(lettered); i++) {
		size_t prefix = strlen(lettered[i]);

		if (len > prefix && !strncmp(name, lettered[i], prefix))
			return true;
	}
	return false;
}

bool diskname_is_memory(const char *name)
{
	static const char *const prefixes[] = {"loop", "ram", "zram"};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		size_t len = strlen(prefixes[i]);

		if (!strncmp(name, prefixes[i], len) && isdigit((unsigned char)name[len]))
			return true;
	}
	return false;
}

/* Add a label from the first of two attributes that exists; its value stays in `buf`. */
static bool label_attr(struct strbuf *labels, const struct proc_root *root, const char *sys,
	const char *key, const char *first, const char *second, char buf[SYSATTR_MAX])
{
	if (!sysattr_read(root, buf, "/sys/block/%s/%s", sys, first) &&
		(!second || !sysattr_read(root, buf, "/sys/block/%s/%s", sys, second)))
		return false;
	label_add(labels, key, buf);
	return true;
}

/* Add labels for all names of a whole device in /sys. `stable` becomes the best name; initially it
 * is the by-id name, or "". */
static void label_device(struct strbuf *labels, const struct proc_root *root, const char *sys,
	char stable[SYSATTR_MAX])
{
	static const char mpath[] = "mpath-";
	char dm[SYSATTR_MAX] = "", buf[SYSATTR_MAX];

	label_attr(labels, root, sys, "dm", "dm/name", NULL, dm);
	if (sysattr_read(root, buf, "/sys/block/%s/dm/uuid", sys) &&
		!strncmp(buf, mpath, strlen(mpath)))
		label_add(labels, "mpath", buf + strlen(mpath));
	if (label_attr(labels, root, sys, "wwid", "wwid", "device/wwid", buf) && !*stable)
		memcpy(stable, buf, SYSATTR_MAX);
	if (label_attr(labels, root, sys, "serial", "device/serial", "serial", buf) && !*stable)
		memcpy(stable, buf, SYSATTR_MAX);
	label_attr(labels, root, sys, "model", "device/model", NULL, buf);
	if (*dm)
		memcpy(stable, dm, SYSATTR_MAX);
}

static void label_all(struct strbuf *labels, const struct proc_root *root,
	const struct diskname_links *links, const char *name, const char *sys)
{
	char stable[SYSATTR_MAX] = "";
	uint32_t at;

	if (strmap_get(&links->targets, name, &at)) {
		snprintf(stable, sizeof(stable), "%s", links->names[at]);
		label_add(labels, "by_id", stable);
	}
	if (sys)
		label_device(labels, root, sys, stable);
	if (*stable)
		label_add(labels, "stable", stable);
}

/* The name in /sys, which has '!' instead of a slash (cciss/c0d0). NULL for impossible names. */
static char *sys_name(const char *name, char buf[NAME_MAX + 1])
{
	size_t len = strlen(name);

	if (!strcmp(name, ".") || !strcmp(name, "..") || len > NAME_MAX)
		return NULL;
	memcpy(buf, name, len + 1);
	for (char *p = buf; *p; p++) {
		if (*p == '/')
			*p = '!';
	}
	return buf;
}

int diskname_describe(const struct proc_root *root, struct diskname_links *links, const char *name,
	uint32_t major, uint32_t minor, struct diskname *ret)
{
	char buf[NAME_MAX + 1], devno[32], size[SYSATTR_MAX];
	const char *sys = sys_name(name, buf);
	struct strbuf labels = {0};
	struct diskname d = {0};

	if (!links->loaded && links_load(links, root) < 0)
		return -ENOMEM;
	if (sys && !sysattr_exists(root, "/sys/block/%s", sys))
		sys = NULL;
	d.partition = !sys;
	if (!sys && !sysattr_exists(root, "/sys/block"))
		d.partition = diskname_looks_partition(name);
	d.empty = sys && sysattr_read(root, size, "/sys/block/%s/size", sys) && !strcmp(size, "0");
	snprintf(devno, sizeof(devno), "%u:%u", major, minor);
	label_add(&labels, "devno", devno);
	label_all(&labels, root, links, name, sys);
	d.labels = strbuf_take(&labels);
	if (!d.labels)
		return -ENOMEM;
	*ret = d;
	return 0;
}

void diskname_release(struct diskname *d)
{
	free(d->labels);
	*d = (struct diskname){0};
}
