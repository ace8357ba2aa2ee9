#include "lab/cgroup.h"

#include "base/cleanup.h"
#include "lab/owned.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#define V2_ROOT "/sys/fs/cgroup/"
#define V1_CPU "/sys/fs/cgroup/cpu/"
#define V1_CPUACCT "/sys/fs/cgroup/cpuacct/"
#define PERIOD_US 20000 /* short, so that a throttled server is not silent for long */
#define REMOVE_TRIES 400
#define REMOVE_PAUSE_US 5000

bool cgroup_cpuacct(const char *cgroup, char *buf, size_t size)
{
	size_t len = strlen(V1_CPU);
	struct stat cpu, acct;

	if (strncmp(cgroup, V1_CPU, len) != 0)
		return false;
	if (stat(V1_CPU, &cpu) == 0 && stat(V1_CPUACCT, &acct) == 0 && cpu.st_dev == acct.st_dev)
		return false; /* mounted together, "cpu,cpuacct" */
	return (size_t)snprintf(buf, size, V1_CPUACCT "%s", cgroup + len) < size;
}

static int put(const char *cgroup, const char *file, const char *text)
{
	char path[LAB_PATH_MAX];
	_cleanup_close_ int fd = -1;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", cgroup, file) >= sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		return -errno;
	return 0;
}

static bool is_v2(void)
{
	return access(V2_ROOT "cgroup.controllers", F_OK) == 0;
}

/* The directory in which groups with a CPU quota can be created; NULL if there is none. */
static const char *find_root(void)
{
	if (access(V1_CPU "cpu.cfs_quota_us", F_OK) == 0 || access(V1_CPU "cpu.shares", F_OK) == 0)
		return V1_CPU;
	if (!is_v2())
		return NULL;
	/* Fails if it is already on and another program manages it; setting the quota will show
	 * that. */
	(void)put(V2_ROOT, "cgroup.subtree_control", "+cpu");
	return V2_ROOT;
}

static int set_quota(const char *cgroup, uint32_t percent)
{
	uint64_t quota = (uint64_t)PERIOD_US * percent / 100;
	char text[64];
	int r;

	if (percent && quota < 1000)
		quota = 1000; /* the minimum of the kernel */
	if (access(V1_CPU "cpu.cfs_quota_us", F_OK) < 0) {
		if (percent)
			snprintf(text, sizeof(text), "%llu %d", (unsigned long long)quota,
				PERIOD_US);
		else
			snprintf(text, sizeof(text), "max %d", PERIOD_US);
		return put(cgroup, "cpu.max", text);
	}
	snprintf(text, sizeof(text), "%d", PERIOD_US);
	r = put(cgroup, "cpu.cfs_period_us", text);
	snprintf(text, sizeof(text), "%lld", percent ? (long long)quota : -1LL);
	return r < 0 ? r : put(cgroup, "cpu.cfs_quota_us", text);
}

static int make(const struct lab *lab, const char *path, struct lp_err *err)
{
	int r;

	if (access(path, F_OK) == 0)
		return lp_err_set(err, -EEXIST,
			"there is a control group %s, which this lab did not make: use another "
			"name for the lab, or rmdir it if it is not needed",
			path);
	r = owned_note(lab, "cgroup", path, err);
	if (r < 0)
		return r;
	return mkdir(path, 0755) < 0 ? -errno : 0;
}

int cgroup_up(const struct lab *lab, struct lab_node *node, struct lp_err *err)
{
	const char *root = find_root();
	char path[LAB_PATH_MAX], counting[LAB_PATH_MAX];
	int r;

	node->cgroup[0] = '\0';
	if (!root)
		return 0;
	snprintf(path, sizeof(path), "%s%s", root, node->netns);
	r = make(lab, path, err);
	if (r == 0 && cgroup_cpuacct(path, counting, sizeof(counting)))
		r = make(lab, counting, err);
	if (r == 0)
		r = set_quota(path, lab->config.cpu_percent);
	if (r == -EEXIST || r == -ENOMEM)
		return r;
	if (r == 0) /* otherwise it is not permitted here; the group is removed with the lab */
		snprintf(node->cgroup, sizeof(node->cgroup), "%.*s", (int)sizeof(node->cgroup) - 1,
			path);
	return 0;
}

/* Kill the processes in the group. */
static void empty(const char *cgroup)
{
	char path[LAB_PATH_MAX];
	_cleanup_fclose_ FILE *f = NULL;
	char line[32];

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		pid_t pid = (pid_t)strtol(line, NULL, 10);

		if (pid > 1 && pid != getpid())
			kill(pid, SIGKILL);
	}
}

static int remove_group(const char *path, struct lp_err *err)
{
	for (unsigned i = 0; i < REMOVE_TRIES; i++) {
		if (rmdir(path) == 0 || errno == ENOENT)
			return 0;
		if (errno != EBUSY)
			break;
		empty(path);
		usleep(REMOVE_PAUSE_US);
	}
	return lp_err_sys(err, -errno, "%s", path);
}

int cgroup_down(const char *lab_name, struct lp_err *err)
{
	return owned_each(lab_name, "cgroup", remove_group, err);
}

void cgroup_foreign(const char *lab_name, char *buf, unsigned size)
{
	const char *root = is_v2() ? V2_ROOT : V1_CPU;
	_cleanup_closedir_ DIR *dir = opendir(root);
	char prefix[64], path[LAB_PATH_MAX];
	size_t len = (size_t)snprintf(prefix, sizeof(prefix), "limpet-%s-", lab_name);

	*buf = '\0';
	if (!dir)
		return;
	for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
		if (strncmp(e->d_name, prefix, len) != 0)
			continue;
		snprintf(path, sizeof(path), "%s%.100s", root, e->d_name);
		if (!owned_has(lab_name, "cgroup", path))
			snprintf(buf, size, "%s", path);
	}
}
