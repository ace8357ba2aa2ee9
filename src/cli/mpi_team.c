#include "cli/mpi_team.h"

#include "cli/program.h"
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static int gather(void *ctx, const void *data, uint64_t n, void **ret, uint64_t *ret_sizes)
{
	const struct mpi_team *t = ctx;

	return t->gather(data, n, ret, ret_sizes, t->team.rank, t->team.size);
}

static int share(void *ctx, const void *data, uint64_t n, void **ret, uint64_t *ret_sizes)
{
	const struct mpi_team *t = ctx;

	return t->share(data, n, ret, ret_sizes, t->team.rank, t->team.size);
}

/* The number of processes according to mpirun; NULL: mpirun did not start this process. */
static const char *processes(void)
{
	const char *text = getenv("OMPI_COMM_WORLD_SIZE");

	return text ? text : getenv("PMI_SIZE");
}

bool mpi_team_first(void)
{
	const char *rank = getenv("OMPI_COMM_WORLD_RANK");

	rank = rank ? rank : getenv("PMI_RANK");
	return !rank || strtol(rank, NULL, 10) == 0;
}

bool mpi_team_started(void)
{
	return processes() != NULL;
}

int mpi_team_open(struct mpi_team *ret, struct lp_err *err)
{
	int (*begin)(int *rank, int *size);
	char runtime[PATH_MAX], path[PATH_MAX + 32];
	struct lp_err ignored = {0};

	if (!processes() || strtol(processes(), NULL, 10) < 2)
		return 0;
	if (program_runtime(runtime, &ignored) < 0)
		return lp_err_set(err, -ENOENT, "%s", ignored.text);
	snprintf(path, sizeof(path), "%s/liblimpet-team-mpi.so", runtime);
	/* Parts of Open MPI look up its functions among those of all libraries. */
	ret->library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (!ret->library)
		return lp_err_set(err, -ENOENT,
			"to work with several processes limpet needs %s, which cannot be loaded: "
			"%s",
			path, dlerror());
	*(void **)&begin = dlsym(ret->library, "limpet_team_begin");
	*(void **)&ret->gather = dlsym(ret->library, "limpet_team_gather");
	*(void **)&ret->share = dlsym(ret->library, "limpet_team_share");
	*(void **)&ret->end = dlsym(ret->library, "limpet_team_end");
	if (!begin || !ret->gather || !ret->share || !ret->end ||
		begin(&ret->team.rank, &ret->team.size) < 0) {
		ret->end = NULL;
		return lp_err_set(err, -EIO, "MPI cannot be started");
	}
	ret->team.ctx = ret;
	ret->team.gather = gather;
	ret->team.share = share;
	return 1;
}

void mpi_team_close(struct mpi_team *t)
{
	if (t->end)
		t->end();
	t->end = NULL;
}
