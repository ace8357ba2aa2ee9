#include "base/cleanup.h"
#include "lab/fs.h"
#include "lab/lab.h"
#include "lab/mounts.h"
#include "lab/tool.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *program, *package;
} programs[] = {
	{"ip", "iproute2"},
	{"tc", "iproute2"},
	{"ss", "iproute2"},
	{"nft", "nftables"},
	{"ethtool", "ethtool"},
	{"sysctl", "procps"},
	{"unshare", "util-linux"},
	{"nsenter", "util-linux"},
	{"mkfs.ext4", "e2fsprogs"},
};

/* Features that the kernel must have, tested in an unnamed namespace, which disappears
 * immediately. */
static const struct {
	const char *command, *feature;
} features[] = {
	{"unshare --net true", "network namespaces (CONFIG_NET_NS)"},
	{"unshare --net ip link add type veth", "virtual links (modprobe veth)"},
	{"unshare --net ip link add br0 type bridge", "bridges (modprobe bridge)"},
	{"unshare --net tc qdisc add dev lo root tbf rate 1mbit burst 16kb latency 20ms",
		"token buckets (modprobe sch_tbf)"},
	{"unshare --net nft add table ip t ; add chain ip t c ; "
	 "add rule ip t c numgen random mod 100 < 5 drop",
		"nftables (modprobe -a nf_tables nft_numgen)"},
};

static const struct {
	const char *path, *feature;
} devices[] = {
	{"/dev/loop-control", "loop devices (modprobe loop)"},
	{"/dev/fuse", "FUSE (modprobe fuse)"},
};

static int check_programs(struct lp_err *err)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (!tool_exists(programs[i].program))
			return lp_err_set(err, -ENOENT,
				"a lab needs the program '%s': install the package %s",
				programs[i].program, programs[i].package);
	}
	return 0;
}

static int check_kernel(struct lp_err *err)
{
	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
		struct lp_err why = {0};

		if (tool_run(&why, "%s", features[i].command) < 0)
			return lp_err_set(err, -ENOSYS,
				"a lab needs a kernel with %s, and the right to use them: %.200s",
				features[i].feature, why.text);
	}
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		_cleanup_close_ int fd = open(devices[i].path, O_RDWR | O_CLOEXEC);

		if (fd < 0)
			return lp_err_sys(err, -errno,
				"a lab needs %s, and the right to use them: %s", devices[i].feature,
				devices[i].path);
	}
	return 0;
}

/* 'ip' runs each command in a namespace with a separate view of all mounts, which works only if the
 * root directory is a mount. */
static int check_root(struct lp_err *err)
{
	if (mounts_has("/"))
		return 0;
	return lp_err_set(err, -EINVAL,
		"a lab needs a root directory that is a mount point, but here it is not one "
		"(is this a chroot? 'mount --bind DIR DIR' before 'chroot DIR' makes it one)");
}

static uint64_t available_bytes(void)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/meminfo", "re");
	unsigned long long kib;
	char line[128];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1) /* NOLINT(cert-err34-c) */
			return (uint64_t)kib << 10;
	}
	return UINT64_MAX; /* the kernel does not report it */
}

static int check_memory(const struct lab_config *c, struct lp_err *err)
{
	uint64_t need = c->n_servers * (c->disk_bytes + c->hog_bytes), have = available_bytes();

	if (need <= have)
		return 0;
	return lp_err_set(err, -ENOSPC,
		"the disks of %u servers may take %llu MiB of memory, and %llu MiB are available: "
		"make them smaller (--disk) or fewer (--servers)",
		c->n_servers, (unsigned long long)(need >> 20), (unsigned long long)(have >> 20));
}

int lab_check(const struct lab_config *c, struct lp_err *err)
{
	const struct fs *fs = fs_find(c->fs);
	int r;

	if (geteuid() != 0)
		return lp_err_set(err, -EPERM,
			"a lab needs root: it makes network namespaces, loop devices and mounts");
	if (!fs)
		return lab_fs_unknown(c->fs, err);
	r = check_root(err);
	if (r == 0)
		r = check_programs(err);
	if (r == 0)
		r = fs->check(c, err);
	if (r == 0)
		r = check_memory(c, err);
	return r < 0 ? r : check_kernel(err);
}
