/* Built without libbpf or clang: the layers in the kernel are not seen. */
#include "trace/stack/kernel_watch.h"

#include <errno.h>

int kernel_watch_open(
	uint32_t mask, bool own, uint64_t ring_bytes, struct kernel_watch **ret, struct lp_err *err)
{
	(void)mask;
	(void)own;
	(void)ring_bytes;
	(void)ret;
	return lp_err_set(err, -EOPNOTSUPP,
		"limpet was built without libbpf, which it needs to record layers in the "
		"kernel");
}

void kernel_watch_close(struct kernel_watch *w)
{
	(void)w;
}

int kernel_watch_attach(struct kernel_watch *w, struct lp_err *err)
{
	(void)w;
	(void)err;
	return 0;
}

int kernel_watch_process(struct kernel_watch *w, pid_t pid, uint32_t role, struct lp_err *err)
{
	(void)w;
	(void)pid;
	(void)role;
	(void)err;
	return 0;
}

int kernel_watch_find_fuse(struct kernel_watch *w, struct lp_err *err)
{
	return kernel_watch_attach(w, err);
}

int kernel_watch_disk(struct kernel_watch *w, uint32_t device, struct lp_err *err)
{
	(void)device;
	return kernel_watch_attach(w, err);
}

int kernel_watch_descriptor(const struct kernel_watch *w)
{
	(void)w;
	return -1;
}

int kernel_watch_drain(
	struct kernel_watch *w, int (*fn)(void *ctx, const void *event, size_t size), void *ctx)
{
	(void)w;
	(void)fn;
	(void)ctx;
	return 0;
}

int kernel_watch_open_ends(
	struct kernel_watch *w, int (*fn)(void *ctx, const void *event, size_t size), void *ctx)
{
	return kernel_watch_drain(w, fn, ctx);
}

struct stack_shared kernel_watch_counts(const struct kernel_watch *w)
{
	(void)w;
	return (struct stack_shared){0};
}
