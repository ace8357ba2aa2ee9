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

/* Has mpirun started this process? If so, its standard output is a terminal, wherever the output
 * goes. */
bool mpi_team_started(void);

/* Is this the first process, or the only one, according to mpirun? Only that one prints errors. */
bool mpi_team_first(void);

/* Is this process one of several? Returns 1 and a team; 0: it is alone; -ENOENT: limpet has no
 * library for MPI. */
int mpi_team_open(struct mpi_team *ret, struct lp_err *err);
/* Leave the team; the others may have ended. Does nothing if it is zero-initialised. */
void mpi_team_close(struct mpi_team *t);

#endif
