/* Processes of limpet that were started by mpirun, for their common work (src/cli/stack_team.c). It
 * is loaded when it is needed, so that limpet itself does not depend on MPI.
 */
#include <errno.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))
#define PIECE ((uint64_t)1 << 28) /* counts of MPI are int */

EXPORT int limpet_team_begin(int *rank, int *size);
EXPORT int limpet_team_gather(
	const void *data, uint64_t n, void **ret, uint64_t *ret_sizes, int rank, int size);
EXPORT void limpet_team_end(void);

int limpet_team_begin(int *rank, int *size)
{
	if (MPI_Init(NULL, NULL) != MPI_SUCCESS ||
		MPI_Comm_rank(MPI_COMM_WORLD, rank) != MPI_SUCCESS ||
		MPI_Comm_size(MPI_COMM_WORLD, size) != MPI_SUCCESS)
		return -EIO;
	return 0;
}

static int send_all(const char *data, uint64_t n)
{
	for (uint64_t at = 0; at < n; at += PIECE) {
		int piece = (int)(n - at < PIECE ? n - at : PIECE);

		if (MPI_Send(data + at, piece, MPI_BYTE, 0, 0, MPI_COMM_WORLD) != MPI_SUCCESS)
			return -EIO;
	}
	return 0;
}

static int receive_all(char *to, uint64_t n, int from)
{
	for (uint64_t at = 0; at < n; at += PIECE) {
		int piece = (int)(n - at < PIECE ? n - at : PIECE);

		if (MPI_Recv(to + at, piece, MPI_BYTE, from, 0, MPI_COMM_WORLD,
			    MPI_STATUS_IGNORE) != MPI_SUCCESS)
			return -EIO;
	}
	return 0;
}

int limpet_team_gather(
	const void *data, uint64_t n, void **ret, uint64_t *ret_sizes, int rank, int size)
{
	uint64_t all = 0, at = n;
	char *memory;

	if (MPI_Gather(&n, 1, MPI_UINT64_T, ret_sizes, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD) !=
		MPI_SUCCESS)
		return -EIO;
	if (rank)
		return send_all(data, n);
	for (int i = 0; i < size; i++)
		all += ret_sizes[i];
	memory = malloc(all + 1);
	if (!memory) {
		MPI_Abort(MPI_COMM_WORLD, 3); /* the others wait for us */
		return -ENOMEM;
	}
	for (uint64_t i = 0; i < n; i++)
		memory[i] = ((const char *)data)[i];
	for (int i = 1; i < size; i++) {
		if (receive_all(memory + at, ret_sizes[i], i) < 0)
			MPI_Abort(MPI_COMM_WORLD, 3);
		at += ret_sizes[i];
	}
	*ret = memory;
	return 0;
}

void limpet_team_end(void)
{
	MPI_Finalize();
}
