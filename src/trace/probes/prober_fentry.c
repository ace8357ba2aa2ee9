#include "trace/probes/prober_fentry.h"

#include "trace/bpf/functions.h"

#include "base/array.h"
#include "base/cleanup.h"
#include <bpf/bpf.h>
#include <errno.h>

static const char *const maps[] = {"counters", "stacks", "empty"};

DEFINE_CLEANUP(struct bpf_object *, bpf_object__close);

/* Load only the two programs for trampolines, for this function. */
static int choose(struct bpf_object *own, const char *function)
{
	struct bpf_program *program;
	int r = 0;

	bpf_object__for_each_program(program, own)
	{
		bool wanted = bpf_program__type(program) == BPF_PROG_TYPE_TRACING;

		if (r == 0)
			r = bpf_program__set_autoload(program, wanted);
		if (r == 0 && wanted)
			r = bpf_program__set_attach_target(program, 0, function);
	}
	return r;
}

static int share_maps(struct bpf_object *own, const struct bpf_object *shared)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(maps); i++) {
		struct bpf_map *to = bpf_object__find_map_by_name(own, maps[i]);
		const struct bpf_map *from = bpf_object__find_map_by_name(shared, maps[i]);

		r = to && from ? bpf_map__reuse_fd(to, bpf_map__fd(from)) : -EINVAL;
	}
	return r;
}

int fentry_open(const void *image, size_t size, struct bpf_object *shared, uint32_t at,
	const char *function, struct bpf_object **ret)
{
	struct bpf_object_open_opts opts = {.sz = sizeof(opts), .object_name = "limpet_fentry"};
	struct functions_settings settings = {.function = at};
	_cleanup_(bpf_object__closep) struct bpf_object *own = NULL;
	struct bpf_map *rodata;
	int r;

	own = bpf_object__open_mem(image, size, &opts);
	if (!own)
		return -errno;
	rodata = bpf_object__find_map_by_name(own, ".rodata");
	r = rodata ? bpf_map__set_initial_value(rodata, &settings, sizeof(settings)) : -EINVAL;
	if (r == 0)
		r = choose(own, function);
	if (r == 0)
		r = share_maps(own, shared);
	if (r == 0)
		r = bpf_object__load(own);
	if (r == 0)
		*ret = TAKE_PTR(own);
	return r;
}

/* First at its end, so that no call is counted only at its beginning. */
int fentry_attach(struct bpf_object *own, struct bpf_link **ret_enter, struct bpf_link **ret_leave)
{
	const struct bpf_program *enter = bpf_object__find_program_by_name(own, "on_fentry");
	const struct bpf_program *leave = bpf_object__find_program_by_name(own, "on_fexit");
	struct bpf_link *left, *entered;
	int r;

	if (!enter || !leave)
		return -EINVAL;
	left = bpf_program__attach(leave);
	if (!left)
		return -errno;
	entered = bpf_program__attach(enter);
	if (!entered) {
		r = -errno;
		bpf_link__destroy(left);
		return r;
	}
	*ret_enter = entered;
	*ret_leave = left;
	return 0;
}
