#include "cli/stack_team.h"

#include "cli/program.h"
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static int gather(void *ctx, const void *data, uint64_t n, void **ret, uint64_t *ret_sizes)
{
	const struct stack_team *t = ctx;

	return t->gather(data, n, ret, ret_sizes, t->team.rank, t->team.size);
}

/* The number of processes according to mpirun; 1 if it did not start us. */
static long processes(void)
{
	static const char *const variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		const char *text = getenv(variables[i]);

		if (text)
			return strtol(text, NULL, 10);
	}
	return 1;
}

int stack_team_open(struct stack_team *ret, struct lp_err *err)
{
	int (*begin)(int *rank, int *size);
	char runtime[PATH_MAX], path[PATH_MAX + 32];
	struct lp_err ignored = {0};

	if (processes() < 2)
		return 0;
	if (program_runtime(runtime, &ignored) < 0)
		return lp_err_set(err, -ENOENT, "%s", ignored.text);
	snprintf(path, sizeof(path), "%s/liblimpet-team-mpi.so", runtime);
	/* Open MPI's own parts look for its functions among those of all libraries. */
	ret->library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (!ret->library)
		return lp_err_set(err, -ENOENT,
			"to read with several processes limpet needs %s, which cannot be loaded: "
			"%s",
			path, dlerror());
	*(void **)&begin = dlsym(ret->library, "limpet_team_begin");
	*(void **)&ret->gather = dlsym(ret->library, "limpet_team_gather");
	*(void **)&ret->end = dlsym(ret->library, "limpet_team_end");
	if (!begin || !ret->gather || !ret->end || begin(&ret->team.rank, &ret->team.size) < 0) {
		ret->end = NULL;
		return lp_err_set(err, -EIO, "MPI cannot be started");
	}
	ret->team.ctx = ret;
	ret->team.gather = gather;
	return 1;
}

void stack_team_close(struct stack_team *t)
{
	if (t->end)
		t->end();
	t->end = NULL;
}
