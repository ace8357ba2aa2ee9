#include "trace/stack/kernel_files.h"

#include "trace/stack/rpc_message.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#define GFID_ATTRIBUTE "trusted.gfid"

void kernel_file_find(int32_t pid, int32_t fd, uint64_t inode, struct kernel_file *ret)
{
	char link[64];
	struct stat st;
	uint8_t gfid[16];
	ssize_t n;

	*ret = (struct kernel_file){0};
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", pid, fd);
	if (stat(link, &st) < 0 || st.st_ino != inode)
		return;
	n = readlink(link, ret->path, sizeof(ret->path) - 1);
	ret->path[n > 0 ? n : 0] = '\0';
	if (n > 0 && getxattr(link, GFID_ATTRIBUTE, gfid, sizeof(gfid)) == sizeof(gfid))
		ret->key = rpc_gfid_key(gfid);
}

void kernel_disk_name(uint64_t device, char *ret, size_t size)
{
	char path[64], target[PATH_MAX];
	const char *base;
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major(device), minor(device));
	n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	base = strrchr(target, '/');
	if (n > 0 && base && base[1])
		snprintf(ret, size, "%s", base + 1);
	else
		snprintf(ret, size, "%u:%u", major(device), minor(device));
}
