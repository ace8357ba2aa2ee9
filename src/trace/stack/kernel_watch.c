#include "trace/stack/kernel_watch.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "trace/bpf_complaint.h"
#include "trace/bpf_section.h"
#include "trace/stack/kernel_points.h"
#include "trace/stack/layer.h"
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

_Alignas(16) static const char programs[] =
#include "trace/bpf/bpf_stack.h"
	;

#define RING_DEFAULT (UINT64_C(16) << 20)
#define RING_MIN (UINT64_C(64) << 10)
#define RING_MAX (UINT64_C(1) << 30)
#define FUSE_RDEV (10u << 20 | 229u) /* if there is no /dev/fuse to query */

struct kernel_watch {
	struct bpf_object *object;
	struct bpf_link *links[KERNEL_WATCH_POINTS_MAX];
	size_t n_links;
	struct bpf_link *find_fuse;
	struct ring_buffer *ring;
	struct stack_shared *shared;
	uint32_t layers;
	int (*fn)(void *ctx, const void *event, size_t size); /* while the ring is read */
	void *ctx;
	int failure;
};

void kernel_watch_close(struct kernel_watch *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->n_links; i++)
		bpf_link__destroy(w->links[i]);
	bpf_link__destroy(w->find_fuse);
	ring_buffer__free(w->ring);
	if (w->shared)
		munmap(w->shared, sizeof(*w->shared));
	bpf_object__close(w->object);
	free(w);
}

DEFINE_CLEANUP(struct kernel_watch *, kernel_watch_close);

static int refuse(int code, struct lp_err *err)
{
	/* The verifier refuses a program with -EACCES. */
	if (code == -EPERM)
		return lp_err_set(err, -EPERM, "%s",
			geteuid() == 0 ? "BPF is not permitted, not even to root (a container?)"
				       : "the layers in the kernel need BPF, which needs root (or "
					 "CAP_BPF and CAP_PERFMON)");
	return lp_err_set(err, -EOPNOTSUPP,
		"the kernel rejects the BPF programs that follow I/O (%s)",
		bpf_complaint()[0] ? bpf_complaint() : strerror(-code));
}

static uint32_t ring_size(uint64_t want)
{
	uint64_t size = RING_MIN;

	while (size < (want ? want : RING_DEFAULT) && size < RING_MAX)
		size *= 2;
	return (uint32_t)size;
}

static const struct {
	uint16_t nr;
	uint8_t class;
} classes[] = {
	{SYS_read, STACK_CLASS_READ},
	{SYS_write, STACK_CLASS_WRITE},
	{SYS_pread64, STACK_CLASS_PREAD},
	{SYS_pwrite64, STACK_CLASS_PWRITE},
	{SYS_readv, STACK_CLASS_READV},
	{SYS_writev, STACK_CLASS_WRITEV},
	{SYS_preadv, STACK_CLASS_PREADV},
	{SYS_preadv2, STACK_CLASS_PREADV},
	{SYS_pwritev, STACK_CLASS_PWRITEV},
	{SYS_pwritev2, STACK_CLASS_PWRITEV},
	{SYS_recvfrom, STACK_CLASS_RECVFROM},
	{SYS_sendto, STACK_CLASS_SENDTO},
	{SYS_recvmsg, STACK_CLASS_RECVMSG},
	{SYS_sendmsg, STACK_CLASS_SENDMSG},
	{SYS_fsync, STACK_CLASS_SYNC},
	{SYS_fdatasync, STACK_CLASS_SYNC},
	{SYS_sync_file_range, STACK_CLASS_SYNC},
	{SYS_ftruncate, STACK_CLASS_TRUNCATE},
	{SYS_fallocate, STACK_CLASS_FALLOCATE},
};

static void settings_fill(struct stack_settings *s, uint32_t mask, uint32_t ring)
{
	struct stat st;

	s->fuse_rdev = stat("/dev/fuse", &st) == 0 && S_ISCHR(st.st_mode)
		? (uint32_t)(major(st.st_rdev) << 20 | minor(st.st_rdev))
		: FUSE_RDEV;
	s->wake_bytes = ring / 4;
	s->messages = (mask >> STACK_NETWORK & 1) || (mask >> STACK_SERVER & 1);
	s->client = mask >> STACK_CLIENT & 1;
	s->storage = mask >> STACK_STORAGE & 1;
	s->block = mask >> STACK_BLOCK & 1;
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
		s->classes[classes[i].nr] = classes[i].class;
}

/* Load only the programs that are needed, and set their constants. */
static int prepare(struct kernel_watch *w, bool own, uint64_t ring_bytes)
{
	uint32_t size = ring_size(ring_bytes);
	struct stack_settings settings = {0};
	struct btf *btf = btf__load_vmlinux_btf();
	struct bpf_map *ring = bpf_object__find_map_by_name(w->object, "ring");
	struct bpf_map *rodata = bpf_section(w->object, ".rodata");
	int r = ring && rodata ? bpf_map__set_max_entries(ring, size) : -EINVAL;

	settings_fill(&settings, w->layers, size);
	settings.own = own;
	settings.cast = btf && btf__find_by_name_kind(btf, "bpf_rdonly_cast", BTF_KIND_FUNC) > 0;
	btf__free(btf);
	if (r == 0)
		r = bpf_map__set_initial_value(rodata, &settings, sizeof(settings));
	for (const struct kernel_point *p = kernel_points; r == 0 && p->program; p++) {
		struct bpf_program *program =
			bpf_object__find_program_by_name(w->object, p->program);

		r = program ? bpf_program__set_autoload(program, p->layers & w->layers) : -EINVAL;
	}
	return r;
}

static int map_shared(struct kernel_watch *w)
{
	struct bpf_map *bss = bpf_section(w->object, ".bss");
	void *p = bss ? mmap(NULL, sizeof(*w->shared), PROT_READ, MAP_SHARED, bpf_map__fd(bss), 0)
		      : MAP_FAILED;

	if (p == MAP_FAILED)
		return -errno;
	w->shared = p;
	return 0;
}

static int on_event(void *ctx, void *data, size_t size)
{
	struct kernel_watch *w = ctx;

	if (w->failure == 0)
		w->failure = w->fn(w->ctx, data, size);
	return 0;
}

int kernel_watch_open(
	uint32_t mask, bool own, uint64_t ring_bytes, struct kernel_watch **ret, struct lp_err *err)
{
	struct bpf_object_open_opts opts = {.sz = sizeof(opts), .object_name = "limpet_stack"};
	_cleanup_(kernel_watch_closep) struct kernel_watch *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return lp_err_sys(err, -ENOMEM, "cannot follow I/O");
	w->layers = mask;
	bpf_complaint_listen();
	w->object = bpf_object__open_mem(programs, sizeof(programs) - 1, &opts);
	r = w->object ? prepare(w, own, ring_bytes) : -errno;
	if (r == 0)
		r = bpf_object__load(w->object);
	if (r == 0)
		r = map_shared(w);
	if (r < 0)
		return refuse(r, err);
	w->ring = ring_buffer__new(
		bpf_object__find_map_fd_by_name(w->object, "ring"), on_event, w, NULL);
	if (!w->ring)
		return refuse(-errno, err);
	*ret = TAKE_PTR(w);
	return 0;
}

int kernel_watch_attach(struct kernel_watch *w, struct lp_err *err)
{
	for (const struct kernel_point *p = kernel_points; p->program; p++) {
		struct bpf_program *program =
			bpf_object__find_program_by_name(w->object, p->program);

		if (!program || !bpf_program__autoload(program))
			continue;
		w->links[w->n_links] = bpf_program__attach(program);
		if (!w->links[w->n_links])
			return lp_err_sys(
				err, -errno, "cannot watch the kernel's %s", p->tracepoint);
		w->n_links++;
	}
	return 0;
}

static int put(const struct kernel_watch *w, const char *map, uint32_t key, const void *value,
	struct lp_err *err)
{
	int fd = bpf_object__find_map_fd_by_name(w->object, map);

	if (bpf_map_update_elem(fd, &key, value, BPF_ANY) < 0)
		return lp_err_sys(err, -errno, "cannot watch more %s",
			!strcmp(map, "targets") ? "processes" : "disks");
	return 0;
}

int kernel_watch_process(struct kernel_watch *w, pid_t pid, uint32_t role, struct lp_err *err)
{
	return put(w, "targets", (uint32_t)pid, &role, err);
}

int kernel_watch_disk(struct kernel_watch *w, uint32_t device, struct lp_err *err)
{
	const uint8_t one = 1;

	return put(w, "disks", device, &one, err);
}

int kernel_watch_find_fuse(struct kernel_watch *w, struct lp_err *err)
{
	struct bpf_program *program = bpf_object__find_program_by_name(w->object, "find_fuse");
	_cleanup_close_ int fd = -1;
	char buf[64];
	ssize_t n;

	if (!w->find_fuse)
		w->find_fuse = program ? bpf_program__attach_iter(program, NULL) : NULL;
	if (!w->find_fuse)
		return lp_err_sys(err, -errno, "cannot look for FUSE file systems");
	fd = bpf_iter_create(bpf_link__fd(w->find_fuse));
	do
		n = fd < 0 ? -1 : read(fd, buf, sizeof(buf));
	while (n > 0 || (n < 0 && fd >= 0 && errno == EINTR));
	return n < 0 ? lp_err_sys(err, -errno, "cannot look for FUSE file systems") : 0;
}

int kernel_watch_descriptor(const struct kernel_watch *w)
{
	return ring_buffer__epoll_fd(w->ring);
}

int kernel_watch_drain(
	struct kernel_watch *w, int (*fn)(void *ctx, const void *event, size_t size), void *ctx)
{
	int n;

	w->fn = fn;
	w->ctx = ctx;
	w->failure = 0;
	n = ring_buffer__consume(w->ring);
	return w->failure < 0 ? w->failure : n < 0 ? n : 0;
}

int kernel_watch_open_ends(
	struct kernel_watch *w, int (*fn)(void *ctx, const void *event, size_t size), void *ctx)
{
	static const char *const maps[] = {"open_fuse", "open_client", "open_bios"};
	struct stack_event event;
	uint64_t key[2];
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		int fd = bpf_object__find_map_fd_by_name(w->object, maps[i]);
		const void *before = NULL;

		while (r == 0 && bpf_map_get_next_key(fd, before, key) == 0) {
			before = key;
			if (bpf_map_lookup_elem(fd, key, &event) == 0)
				r = fn(ctx, &event, sizeof(event));
		}
	}
	return r;
}

struct stack_shared kernel_watch_counts(const struct kernel_watch *w)
{
	return (struct stack_shared){__atomic_load_n(&w->shared->lost, __ATOMIC_RELAXED),
		__atomic_load_n(&w->shared->unframed, __ATOMIC_RELAXED),
		__atomic_load_n(&w->shared->n_request, __ATOMIC_RELAXED)};
}
