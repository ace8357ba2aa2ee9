/* The files in /proc that a tracer reads about processes, any of which may be hostile: they choose
 * their names, arguments, open files and sockets. The input is the files of a process, separated by
 * bytes 0xff; they are written to a directory in memory. Then the process is examined in every
 * way.
 */
#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "fuzz.h"
#include "trace/backend.h"
#include "trace/calls/calls_watch.h"
#include "trace/descriptor_table.h"
#include "trace/descriptors.h"
#include "trace/ports.h"
#include "trace/ptrace_proc.h"
#include "trace/symbols/perf_map.h"
#include "trace/symbols/proc_maps.h"
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PID 7
#define LINKS_FROM 10

/* The order in the input. Files from LINKS_FROM on are symbolic links. */
static const char *const files[] = {"7/status", "7/comm", "7/net/tcp", "7/net/unix", "7/net/tcp6",
	"7/net/udp", "7/fdinfo/3", "7/maps", "group/cgroup.procs", "7/cmdline", "7/fd/3", "7/fd/4",
	"7/cwd"};
static const char *const directories[] = {
	"7", "7/net", "7/ns", "7/fd", "7/fdinfo", "group", "calls"};

static char root[64];
static int root_fd = -1, fds[LINKS_FROM];

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *place)
{
	(void)st;
	(void)type;
	(void)place;
	return remove(path);
}

static void tree_remove(void)
{
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void tree_make(void)
{
	snprintf(root, sizeof(root), "/dev/shm/fuzz-proc-%d", (int)getpid());
	if (mkdir(root, 0700) < 0)
		abort();
	atexit(tree_remove);
	root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
		if (mkdirat(root_fd, directories[i], 0700) < 0)
			abort();
	}
	for (size_t i = 0; i < LINKS_FROM; i++)
		fds[i] = openat(root_fd, files[i], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (symlinkat("net:[4026531840]", root_fd, "7/ns/net") < 0)
		abort();
}

/* A link to a text without NULs that is not too long. */
static void link_make(const char *name, const uint8_t *data, size_t size)
{
	char target[300];

	size = size < sizeof(target) ? size : sizeof(target) - 1;
	memcpy(target, data, size);
	target[size] = '\0';
	unlinkat(root_fd, name, 0);
	if (target[0] && symlinkat(target, root_fd, name) < 0)
		abort();
}

static void tree_fill(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		const uint8_t *end = size ? memchr(data, 0xff, size) : NULL;
		size_t len = end ? (size_t)(end - data) : size;

		if (i >= LINKS_FROM)
			link_make(files[i], data, len);
		else if (ftruncate(fds[i], 0) < 0 || file_pwrite_full(fds[i], data, len, 0) < 0)
			abort();
		data += end ? len + 1 : len;
		size -= end ? len + 1 : len;
	}
}

static int count_change(void *ctx, const struct trace_descriptor *d)
{
	size_t *n = ctx;

	*n += strlen(d->name ? d->name : "");
	return 0;
}

static void look_at_descriptors(void)
{
	size_t n = 0;
	struct descriptors *d = descriptors_new(root, count_change, &n);
	struct descriptor found;
	struct lp_err err = {0};

	if (!d)
		return;
	descriptors_read(d, PID, 1, &err);
	for (int fd = 3; fd < 6; fd++) {
		if (descriptors_get(d, PID, fd, &found))
			n += strlen(found.name);
		if (descriptors_look(d, PID, fd, 2, &found))
			n += strlen(found.name);
	}
	descriptors_listening(d, PID, 3, &err);
	if (strlen(descriptors_comm(d, PID)) >= PROCESS_COMM_MAX)
		abort();
	descriptors_forget(d, PID);
	descriptors_free(d);
}

static int count_id(void *ctx, pid_t id)
{
	if (id <= 0)
		abort();
	++*(unsigned *)ctx;
	return 0;
}

static void look_at_ports(void)
{
	static const char *const comms[] = {"glusterfsd"};
	static const pid_t pids[] = {PID};
	char group[80];
	struct trace_targets targets = {
		.pids = pids, .n_pids = 1, .comms = comms, .n_comms = 1, .cgroup = group};
	uint16_t ports[16];
	unsigned n = 0;

	snprintf(group, sizeof(group), "%s/group", root);
	if (trace_ports_find(root, &targets, ports, ARRAY_SIZE(ports)) > ARRAY_SIZE(ports))
		abort();
	proc_each_in_cgroup(group, count_id, &n);
}

static void look_at_texts(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = calloc(size + 1, 1);
	_cleanup_(proc_maps_release) struct proc_maps maps = {0};
	struct symbol_table jit;
	uint64_t number;

	if (!text)
		return;
	if (size)
		memcpy(text, data, size);
	proc_status_parse(text, "Tgid", 10, &number);
	proc_status_parse(text, "SigIgn", 16, &number);
	proc_args_give(text, size, "glusterfsd");
	proc_maps_read(root, PID, &maps);
	if (perf_map_read(root, PID, &jit) == 0)
		symbol_table_release(&jit);
}

static int count_program(void *ctx, struct calls_program *p, struct lp_err *err)
{
	(void)ctx;
	(void)err;
	return strlen(p->name) >= sizeof(p->name);
}

static void look_for_calls(void)
{
	char directory[80];
	const struct calls_watch_config config = {.directory = directory, .proc = root};
	struct calls_watch *w;
	struct lp_err err = {0};

	snprintf(directory, sizeof(directory), "%s/calls", root);
	if (calls_watch_open(&config, &w, &err) < 0)
		return;
	calls_watch_read(w, count_program, NULL, NULL, &err);
	calls_watch_close(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (root_fd < 0)
		tree_make();
	tree_fill(data, size);
	look_at_texts(data, size);
	look_at_descriptors();
	look_at_ports();
	look_for_calls();
	return 0;
}
