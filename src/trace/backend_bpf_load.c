/* Loads the programs, as far as this kernel supports them. */
#include "trace/backend_bpf.h"

#include "base/cleanup.h"
#include "trace/bpf_complaint.h"
#include "trace/bpf_section.h"
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define RING_BYTES_DEFAULT (16u << 20)
#define RING_BYTES_MIN (64u << 10)
#define RING_BYTES_MAX (1u << 30)
#define SLOTS_BYTES (64u << 20)
#define SLOTS_MIN 1024u
#define SLOTS_MAX 8192u

/* This kernel did not accept the programs for io_uring, although they seem to match. */
static bool uring_refused;

int bpf_tracer_map(const struct bpf_tracer *t, const char *name)
{
	return bpf_object__find_map_fd_by_name(t->object, name);
}

/* The smallest sufficient power of two that the kernel accepts. */
static uint32_t ring_bytes(uint64_t want)
{
	uint32_t size = RING_BYTES_MIN;

	if (!want)
		want = RING_BYTES_DEFAULT;
	while (size < want && size < RING_BYTES_MAX)
		size *= 2;
	return size;
}

static bool kernel_has(const struct btf *btf, const char *function)
{
	return btf && btf__find_by_name_kind(btf, function, BTF_KIND_FUNC) > 0;
}

/* The number of cells. Each exists once per CPU: 64 MiB at most, which is enough for hundreds of
 * processes even on large machines. */
static uint32_t slots_max(const struct trace_config *config)
{
	int cpus = libbpf_num_possible_cpus();
	uint64_t n = SLOTS_BYTES / sizeof(struct bpf_cell) / (uint64_t)(cpus > 0 ? cpus : 1);

	if (config->records)
		return 1;
	return n < SLOTS_MIN ? SLOTS_MIN : n > SLOTS_MAX ? SLOTS_MAX : (uint32_t)n;
}

/* A group of version 2 is identified by its id and its depth: processes in groups below it are
 * included. */
static void cgroup_fill(struct bpf_settings *s, const char *path)
{
	char up[PATH_MAX];
	struct statfs fs;
	struct stat st, top;
	size_t len = path ? (size_t)snprintf(up, sizeof(up), "%s", path) : 0;

	if (!path || len >= sizeof(up) || statfs(path, &fs) < 0 ||
		fs.f_type != CGROUP2_SUPER_MAGIC || stat(path, &st) < 0)
		return;
	for (; len + sizeof("/..") <= sizeof(up); len += 3) {
		memcpy(up + len, "/..", sizeof("/.."));
		if (stat(up, &top) < 0 || top.st_dev != st.st_dev)
			break;
		s->cgroup_level++;
	}
	s->cgroup_id = st.st_ino;
}

static void settings_fill(struct bpf_settings *s, const struct trace_config *config,
	const struct btf *btf, uint32_t ring)
{
	s->records = config->records;
	s->comms = config->targets.n_comms > 0;
	for (; s->n_users < config->targets.n_uids && s->n_users < BPF_USERS_MAX; s->n_users++)
		s->users[s->n_users] = config->targets.uids[s->n_users];
	s->cast = kernel_has(btf, "bpf_rdonly_cast");
	s->self = (uint32_t)getpid();
	s->slow_ns = config->slow_ns > 0 ? (uint64_t)config->slow_ns : UINT64_C(1000000000);
	s->same_max = TRACE_SAME_MAX;
	s->wake_bytes = ring / 2;
	s->max_slots = slots_max(config);
	cgroup_fill(s, config->targets.cgroup);
	bpf_calls_fill(s);
}

/* The number of arguments of a tracepoint, if its first one is a pointer to a struct with this name
 * (NULL: any); 0: there is no such tracepoint. */
static unsigned tracepoint_args(const struct btf *btf, const char *name, const char *first)
{
	char type_name[64];
	const struct btf_type *type;
	int id;

	snprintf(type_name, sizeof(type_name), "btf_trace_%s", name);
	id = btf ? btf__find_by_name_kind(btf, type_name, BTF_KIND_TYPEDEF) : -1;
	if (id < 0)
		return 0;
	type = btf__type_by_id(btf, btf__type_by_id(btf, (uint32_t)id)->type);
	type = type ? btf__type_by_id(btf, type->type) : NULL;
	if (!type || !btf_is_func_proto(type) || btf_vlen(type) < 2)
		return 0;
	if (first) {
		const struct btf_type *arg = btf__type_by_id(btf, btf_params(type)[1].type);

		arg = arg && btf_is_ptr(arg) ? btf__type_by_id(btf, arg->type) : NULL;
		if (!arg || !btf_is_struct(arg) ||
			strcmp(btf__name_by_offset(btf, arg->name_off), first) != 0)
			return 0;
	}
	return btf_vlen(type) - 1u;
}

/* Some programs have several variants, each for some kernels. Is there one for io_uring? */
static bool uring_choose(const struct btf *btf, struct bpf_object *object, bool want)
{
	unsigned completes = tracepoint_args(btf, "io_uring_complete", "io_ring_ctx");
	bool request = tracepoint_args(btf, "io_uring_submit_req", "io_kiocb") > 0;
	bool entry = !request && tracepoint_args(btf, "io_uring_submit_sqe", "io_kiocb") > 0;
	bool all = want && (request || entry) && (completes == 3 || completes == 7);
	const struct {
		const char *name;
		bool load;
	} programs[] = {
		{"on_uring_request", all && request},
		{"on_uring_entry", all && entry},
		{"on_uring_completion", all && completes == 3},
		{"on_uring_result", all && completes == 7},
	};

	for (size_t i = 0; object && i < sizeof(programs) / sizeof(programs[0]); i++) {
		struct bpf_program *p = bpf_object__find_program_by_name(object, programs[i].name);

		if (p)
			bpf_program__set_autoload(p, programs[i].load);
	}
	return all;
}

const char *bpf_tracer_unseen(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool all = uring_choose(btf, NULL, !uring_refused);

	btf__free(btf);
	return all ? "" : "io_uring";
}

static int prepare(struct bpf_tracer *t, const struct trace_config *config, struct lp_err *err)
{
	struct btf *btf = btf__load_vmlinux_btf();
	struct bpf_map *rodata = bpf_section(t->object, ".rodata");
	struct bpf_map *ring = bpf_object__find_map_by_name(t->object, "ring");
	struct bpf_map *cells = bpf_object__find_map_by_name(t->object, "cells");
	struct bpf_program *rename = bpf_object__find_program_by_name(t->object, "on_rename");
	_cleanup_free_ struct bpf_settings *s = calloc(1, sizeof(*s));
	int r = 0;

	if (!s)
		r = -ENOMEM;
	else if (!rodata || !ring || !cells || !rename)
		r = -EINVAL;
	if (r == 0) {
		t->ring.size = ring_bytes(config->ring_bytes);
		settings_fill(s, config, btf, (uint32_t)t->ring.size);
		bpf_program__set_autoload(rename, config->targets.command);
		uring_choose(btf, t->object, !uring_refused);
		r = bpf_map__set_max_entries(ring, (uint32_t)t->ring.size);
	}
	if (r == 0)
		r = bpf_map__set_max_entries(cells, s->max_slots);
	if (r == 0)
		r = bpf_map__set_initial_value(rodata, s, sizeof(*s));
	btf__free(btf);
	return r < 0 ? lp_err_sys(err, r, "cannot prepare the BPF programs") : 0;
}

static int map_shared(struct bpf_tracer *t, struct lp_err *err)
{
	struct bpf_map *bss = bpf_section(t->object, ".bss");
	void *p = bss ? mmap(NULL, sizeof(struct bpf_shared), PROT_READ | PROT_WRITE, MAP_SHARED,
				bpf_map__fd(bss), 0)
		      : MAP_FAILED;

	if (p == MAP_FAILED)
		return lp_err_sys(err, -errno, "cannot map the counters of the BPF programs");
	t->shared = p;
	return 0;
}

static int load_once(struct bpf_tracer *t, const struct trace_config *config, struct lp_err *err)
{
	struct bpf_object_open_opts opts = {.sz = sizeof(opts), .object_name = "limpet"};
	int r;

	bpf_complaint_listen();
	t->object = bpf_object__open_mem(bpf_programs, bpf_programs_size, &opts);
	if (!t->object)
		return lp_err_sys(err, -errno, "cannot open the BPF programs");
	r = prepare(t, config, err);
	if (r < 0)
		return r;
	r = bpf_object__load(t->object);
	if (r < 0)
		return lp_err_sys(err, r, "the kernel rejects the BPF programs (%s)",
			bpf_complaint()[0] ? bpf_complaint() : "it gives no reason");
	return 0;
}

int bpf_tracer_load(struct bpf_tracer *t, const struct trace_config *config, struct lp_err *err)
{
	int r = load_once(t, config, err);

	if (r < 0 && t->object && !uring_refused) {
		/* This part is the least important one, and changes most between kernels. */
		bpf_object__close(t->object);
		t->object = NULL;
		uring_refused = true;
		r = load_once(t, config, err);
	}
	if (r < 0)
		return r;
	t->processes_fd = bpf_tracer_map(t, "processes");
	r = map_shared(t, err);
	return r < 0 ? r : bpf_ring_open(&t->ring, bpf_tracer_map(t, "ring"), t->ring.size, err);
}

uint64_t bpf_tracer_misses(const struct bpf_tracer *t)
{
	struct bpf_program *program;
	uint64_t n = 0;

	bpf_object__for_each_program(program, t->object)
	{
		struct bpf_prog_info info = {0};
		uint32_t size = sizeof(info);

		if (bpf_program__fd(program) >= 0 &&
			bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) == 0)
			n += info.recursion_misses;
	}
	return n;
}

static struct bpf_link **iterator_slot(struct bpf_tracer *t, const char *name)
{
	if (!strcmp(name, "scan_tasks"))
		return &t->scan;
	return strcmp(name, "list_pending") ? NULL : &t->pending;
}

int bpf_tracer_attach(struct bpf_tracer *t, struct lp_err *err)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, t->object)
	{
		struct bpf_link **slot = iterator_slot(t, bpf_program__name(program)), *link;

		if (!bpf_program__autoload(program))
			continue;
		link = slot ? bpf_program__attach_iter(program, NULL)
			    : bpf_program__attach(program);
		if (!link)
			return lp_err_sys(err, -errno, "cannot attach the BPF program %s",
				bpf_program__name(program));
		if (slot)
			*slot = link;
		else if (t->n_links < BPF_LINKS_MAX)
			t->links[t->n_links++] = link;
		else
			bpf_link__destroy(link);
	}
	return 0;
}

void bpf_tracer_unload(struct bpf_tracer *t)
{
	for (unsigned i = 0; i < t->n_links; i++)
		bpf_link__destroy(t->links[i]);
	t->n_links = 0;
	bpf_link__destroy(t->scan);
	bpf_link__destroy(t->pending);
	t->scan = t->pending = NULL;
	bpf_ring_close(&t->ring);
	if (t->shared)
		munmap(t->shared, sizeof(*t->shared));
	t->shared = NULL;
	bpf_object__close(t->object);
	t->object = NULL;
}
