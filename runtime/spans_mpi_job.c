/* The end of an MPI job that keeps sums: rank 0 adds up those of all ranks, so that the job has one
 * result, whatever its number of ranks. All ranks must have this library.
 */
#include "runtime/spans_mpi.h"

#include <stdlib.h>
#include <string.h>

#define SUMS ((size_t)SPANS_LAYERS * SPANS_OPS)
#define WORDS (SUMS * SPANS_SUM_WORDS)

/* As in spans_mpi.c: missing functions are not used. */
#ifdef OPEN_MPI
#pragma weak ompi_mpi_comm_world
#pragma weak ompi_mpi_op_sum
#pragma weak ompi_mpi_op_max
#pragma weak ompi_mpi_uint64_t
#endif
#pragma weak PMPI_Reduce
#pragma weak PMPI_Comm_rank
#pragma weak PMPI_Comm_size

/* Members that are compared, not added, are separate. */
static void split(const struct spans_sum *sums, uint64_t *words, uint64_t *longest)
{
	for (size_t i = 0; i < SUMS; i++) {
		struct spans_sum s = sums ? sums[i] : (struct spans_sum){0};

		longest[i] = s.longest_ns;
		s.longest_ns = 0;
		memcpy(words + i * SPANS_SUM_WORDS, &s, sizeof(s));
	}
}

static void join(struct spans_sum *sums, const uint64_t *words, const uint64_t *longest)
{
	memcpy(sums, words, SUMS * sizeof(*sums));
	for (size_t i = 0; i < SUMS; i++)
		sums[i].longest_ns = longest[i];
}

void mpi_ends(void)
{
	static uint64_t words[WORDS], all[WORDS], longest[SUMS], all_longest[SUMS];
	static bool done; /* a function for Fortran may call the one for C */
	const char *asked = secure_getenv(SPANS_SUMMARY_VARIABLE);
	struct spans_sum *sums = spans_sums();
	int rank = -1, n_ranks = 0;

	if (done || !asked || *asked != '1' ||
		PMPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS ||
		PMPI_Comm_size(MPI_COMM_WORLD, &n_ranks) != MPI_SUCCESS)
		return;
	done = true;
	split(sums, words, longest);
	if (PMPI_Reduce(words, all, WORDS, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD) !=
			MPI_SUCCESS ||
		PMPI_Reduce(longest, all_longest, SUMS, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD) !=
			MPI_SUCCESS ||
		!sums)
		return;
	if (rank == 0)
		join(sums, all, all_longest);
	else
		memset(sums, 0, SUMS * sizeof(*sums));
	spans_reduced((uint32_t)n_ranks);
}
