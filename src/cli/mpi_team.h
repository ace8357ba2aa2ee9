/* Processes of limpet that mpirun started: they work together. */
#ifndef CLI_MPI_TEAM_H
#define CLI_MPI_TEAM_H

#include "base/team.h"

typedef int (*mpi_team_fn)(
	const void *data, uint64_t n, void **ret, uint64_t *ret_sizes, int rank, int size);

struct mpi_team {
	struct team team;
	void *library;
	mpi_team_fn gather, share;
	void (*end)(void);
};

/* Has mpirun started this process? Its standard output is a terminal then, wherever it goes to. */
bool mpi_team_started(void);

/* Is this the first process, or alone, according to mpirun? It is the one that complains. */
bool mpi_team_first(void);

/* Is this one of several? 1 and a team, 0: it is alone. -ENOENT: limpet has no library for MPI. */
int mpi_team_open(struct mpi_team *ret, struct lp_err *err);
/* Zero-initialised: nothing. The others may have ended; what follows is done alone. */
void mpi_team_close(struct mpi_team *t);

#endif
