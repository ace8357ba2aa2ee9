/* Processes of limpet that mpirun started: they read together. */
#ifndef CLI_STACK_TEAM_H
#define CLI_STACK_TEAM_H

#include "trace/stack/spans_team.h"

struct stack_team {
	struct spans_team team;
	void *library;
	int (*gather)(
		const void *data, uint64_t n, void **ret, uint64_t *ret_sizes, int rank, int size);
	void (*end)(void);
};

/* Is this one of several? 1 and a team, 0: it is alone. -ENOENT: limpet has no library for MPI. */
int stack_team_open(struct stack_team *ret, struct lp_err *err);
/* Zero-initialised: nothing. */
void stack_team_close(struct stack_team *t);

#endif
