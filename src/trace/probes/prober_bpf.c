#include "trace/probes/prober.h"

#include "trace/probes/prober_fentry.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "trace/bpf_complaint.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

_Alignas(16) static const char programs[] =
#include "trace/bpf/bpf_functions.h"
	;

/* The maximum number of threads in counted functions at the same time. */
#define THREADS_MAX 4096

struct probe {
	uint32_t at;
	struct bpf_link *enter, *leave;
	struct bpf_object *own; /* programs only for this function; NULL: the common ones */
};

struct prober {
	struct bpf_object *object;
	const struct functions_counter *counters;
	size_t size; /* of these, in bytes */
	struct probe *probes;
	size_t n, cap;
	size_t n_fentry;
	bool no_fentry; /* the kernel has refused a trampoline */
};

#define NAME(name, whose) [FUNCTIONS_TP_##name] = #name,
const char *const prober_tracepoints[FUNCTIONS_FIRST] = {FUNCTIONS_TRACEPOINTS(NAME)};

static void probe_release(struct probe *p)
{
	bpf_link__destroy(p->leave);
	bpf_link__destroy(p->enter);
	bpf_object__close(p->own);
}

void prober_close(struct prober *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n; i++)
		probe_release(&p->probes[i]);
	free(p->probes);
	if (p->counters)
		munmap((void *)(uintptr_t)p->counters, p->size);
	bpf_object__close(p->object);
	free(p);
}

DEFINE_CLEANUP(struct prober *, prober_close);

static int refuse(int code, struct lp_err *err)
{
	if (code == -EPERM || code == -EACCES)
		return lp_err_set(err, -EPERM, "%s",
			geteuid() == 0 ? "BPF is not permitted, not even to root (a container?)"
				       : "BPF needs root (or CAP_BPF and CAP_PERFMON)");
	return lp_err_set(err, -EOPNOTSUPP,
		"the kernel rejects the BPF programs that count functions (%s)",
		bpf_complaint()[0] ? bpf_complaint() : strerror(-code));
}

/* Do not load programs that are not needed: the kernel may refuse them. */
static int prepare(const struct prober *p, uint32_t n, bool tracepoints, uint64_t netns)
{
	struct functions_settings settings = {.netns = (uint32_t)netns};
	struct bpf_map *counters = bpf_object__find_map_by_name(p->object, "counters");
	struct bpf_map *stacks = bpf_object__find_map_by_name(p->object, "stacks");
	struct bpf_map *rodata = bpf_object__find_map_by_name(p->object, ".rodata");
	struct bpf_program *program;
	int r;

	if (!counters || !stacks || !rodata)
		return -EINVAL;
	r = bpf_map__set_max_entries(counters, FUNCTIONS_FIRST + n);
	if (r == 0)
		r = bpf_map__set_max_entries(stacks, n ? THREADS_MAX : 1);
	if (r == 0)
		r = bpf_map__set_initial_value(rodata, &settings, sizeof(settings));
	bpf_object__for_each_program(program, p->object)
	{
		enum bpf_prog_type type = bpf_program__type(program);

		if (r == 0)
			r = bpf_program__set_autoload(program,
				type == BPF_PROG_TYPE_KPROBE		? n > 0
					: type == BPF_PROG_TYPE_TRACING ? false
									: tracepoints);
	}
	return r;
}

int prober_open(
	uint32_t n, bool tracepoints, uint64_t netns, struct prober **ret, struct lp_err *err)
{
	struct bpf_object_open_opts opts = {.sz = sizeof(opts), .object_name = "limpet_probes"};
	_cleanup_(prober_closep) struct prober *p = calloc(1, sizeof(*p));
	struct bpf_map *map;
	void *counters;
	int r;

	if (!p)
		return lp_err_sys(err, -ENOMEM, "cannot count functions");
	bpf_complaint_listen();
	p->object = bpf_object__open_mem(programs, sizeof(programs) - 1, &opts);
	r = p->object ? prepare(p, n, tracepoints, netns) : -errno;
	if (r == 0)
		r = bpf_object__load(p->object);
	if (r < 0)
		return refuse(r, err);
	map = bpf_object__find_map_by_name(p->object, "counters");
	p->size = (FUNCTIONS_FIRST + n) * sizeof(*p->counters);
	counters = mmap(NULL, p->size, PROT_READ, MAP_SHARED, bpf_map__fd(map), 0);
	if (counters == MAP_FAILED)
		return refuse(-errno, err);
	p->counters = counters;
	*ret = TAKE_PTR(p);
	return 0;
}

static int probe_add(struct prober *p, const struct probe *probe)
{
	if (array_reserve(&p->probes, &p->cap, p->n + 1, sizeof(*p->probes)) < 0)
		return -ENOMEM;
	p->probes[p->n++] = *probe;
	return 0;
}

int prober_add_tracepoint(struct prober *p, uint32_t at)
{
	struct probe probe = {.at = at};
	struct bpf_program *program;
	char name[64];

	snprintf(name, sizeof(name), "on_%s", prober_tracepoints[at]);
	program = bpf_object__find_program_by_name(p->object, name);
	probe.enter = program ? bpf_program__attach_raw_tracepoint(program, prober_tracepoints[at])
			      : NULL;
	if (!probe.enter)
		return program ? -errno : -ENOENT;
	if (probe_add(p, &probe) == 0)
		return 0;
	probe_release(&probe);
	return -ENOMEM;
}

/* The place of a function: in a file, or (function not NULL) in the kernel. */
struct place {
	struct prober_place in_file;
	const char *function;
};

static struct bpf_link *attach(
	const struct prober *p, uint32_t at, const struct place *place, bool leave)
{
	const struct prober_place *f = &place->in_file;
	const char *name = leave ? "on_return" : f->calls_only ? "on_call" : "on_enter";
	const struct bpf_program *program = bpf_object__find_program_by_name(p->object, name);
	const struct bpf_uprobe_opts user = {
		.sz = sizeof(user), .retprobe = leave, .bpf_cookie = at};
	const struct bpf_kprobe_opts kernel = {
		.sz = sizeof(kernel), .retprobe = leave, .bpf_cookie = at};

	return place->function
		? bpf_program__attach_kprobe_opts(program, place->function, &kernel)
		: bpf_program__attach_uprobe_opts(program, f->pid, f->path, f->offset, &user);
}

/* First at its end, so that no call is counted only at its beginning. */
static int place_add(struct prober *p, uint32_t at, const struct place *place)
{
	bool leaves = !place->in_file.calls_only;
	struct probe probe = {.at = at};
	int r = 0;

	if (leaves)
		probe.leave = attach(p, at, place, true);
	if (probe.leave || !leaves)
		probe.enter = attach(p, at, place, false);
	if (!probe.enter)
		r = -errno;
	if (r == 0)
		r = probe_add(p, &probe);
	if (r < 0)
		probe_release(&probe);
	return r;
}

int prober_add_function(struct prober *p, uint32_t at, const struct prober_place *place)
{
	return place_add(p, at, &(struct place){.in_file = *place});
}

/* Use a trampoline if possible, which is far cheaper, otherwise kprobes. If the kernel has refused
 * one, do not try again for each of a thousand functions. */
int prober_add_kernel(struct prober *p, uint32_t at, const char *function)
{
	struct probe probe = {.at = at};
	int r = -EOPNOTSUPP;

	if (!p->no_fentry && p->n_fentry < FENTRY_MAX) {
		r = fentry_open(
			programs, sizeof(programs) - 1, p->object, at, function, &probe.own);
		if (r == 0)
			r = fentry_attach(probe.own, &probe.enter, &probe.leave);
		if (r == 0)
			r = probe_add(p, &probe);
		/* A function without types does not mean that all others fail. */
		p->no_fentry = r < 0 && r != -ENOENT && r != -ESRCH;
	}
	if (r == 0) {
		p->n_fentry++;
		return 0;
	}
	probe_release(&probe);
	return place_add(p, at, &(struct place){.function = function});
}

size_t prober_trampolines(const struct prober *p)
{
	return p->n_fentry;
}

void prober_remove(struct prober *p, uint32_t at)
{
	for (size_t i = 0; i < p->n;) {
		if (p->probes[i].at != at) {
			i++;
			continue;
		}
		probe_release(&p->probes[i]);
		p->probes[i] = p->probes[--p->n];
	}
}

struct functions_counter prober_count(const struct prober *p, uint32_t at)
{
	const struct functions_counter *c = &p->counters[at];

	return (struct functions_counter){__atomic_load_n(&c->n, __ATOMIC_RELAXED),
		__atomic_load_n(&c->ns, __ATOMIC_RELAXED)};
}
