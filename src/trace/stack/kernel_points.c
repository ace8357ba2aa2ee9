/* Which programs the layers need. The plan needs it even if the programs are not built. */
#include "trace/stack/kernel_points.h"

#include "base/array.h"
#include "trace/stack/kernel_watch.h"
#include "trace/stack/layer.h"

#define BIT(layer) (1u << (layer))
#define CALLS                                                                                      \
	(BIT(STACK_CLIENT) | BIT(STACK_NETWORK) | BIT(STACK_SERVER) | BIT(STACK_STORAGE) |         \
		BIT(STACK_BLOCK))

const struct kernel_point kernel_points[] = {
	{"on_fuse_send", "fuse_request_send", BIT(STACK_FUSE)},
	{"on_fuse_end", "fuse_request_end", BIT(STACK_FUSE)},
	{"on_enter", "sys_enter", CALLS},
	{"on_exit", "sys_exit", CALLS & ~BIT(STACK_BLOCK)},
	{"on_bio_queue", "block_bio_queue", BIT(STACK_BLOCK)},
	{"on_issue", "block_rq_issue", BIT(STACK_BLOCK)},
	{"on_complete", "block_rq_complete", BIT(STACK_BLOCK)},
	{"on_bio_complete", "block_bio_complete", BIT(STACK_BLOCK)},
	{"on_fork", "sched_process_fork", CALLS},
	{"on_task_exit", "sched_process_exit", CALLS},
	{NULL, NULL, 0},
};

size_t kernel_watch_points(uint32_t mask, const char *ret[KERNEL_WATCH_POINTS_MAX])
{
	size_t n = 0;

	_Static_assert(ARRAY_SIZE(kernel_points) <= KERNEL_WATCH_POINTS_MAX, "all fit");
	for (const struct kernel_point *p = kernel_points; p->program; p++) {
		if (p->layers & mask)
			ret[n++] = p->tracepoint;
	}
	ret[n] = NULL;
	return n;
}
