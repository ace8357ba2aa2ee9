/* Lets processes of limpet that mpirun started work together (src/cli/mpi_team.c). It is loaded on
 * demand, so that limpet itself does not depend on MPI.
 */
#include <errno.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))
#define PIECE ((uint64_t)1 << 28) /* counts of MPI are int */

EXPORT int limpet_team_begin(int *rank, int *size);
EXPORT int limpet_team_gather(
	const void *data, uint64_t n, void **ret, uint64_t *ret_sizes, int rank, int size);
EXPORT int limpet_team_share(
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
		MPI_Abort(MPI_COMM_WORLD, 3); /* the others wait for this process */
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

/* MPI waits by polling, which takes a processor from processes that still work. */
#define TESTS_BUSY 200
#define SLEEP_NS 100000

static int rest_until_done(MPI_Request *request)
{
	const struct timespec nap = {.tv_nsec = SLEEP_NS};
	int done = 0;

	for (unsigned n = 0; !done; n++) {
		if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
			return -EIO;
		if (!done && n > TESTS_BUSY)
			nanosleep(&nap, NULL);
	}
	return 0;
}

/* Send the `n` bytes of process `root` to all. */
static int broadcast(char *data, uint64_t n, int root)
{
	int r = 0;

	for (uint64_t at = 0; r == 0 && at < n; at += PIECE) {
		int piece = (int)(n - at < PIECE ? n - at : PIECE);
		MPI_Request request = MPI_REQUEST_NULL;

		if (MPI_Ibcast(data + at, piece, MPI_BYTE, root, MPI_COMM_WORLD, &request) !=
				MPI_SUCCESS ||
			rest_until_done(&request) < 0)
			r = -EIO;
		if (MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS)
			r = -EIO;
	}
	return r;
}

static int sizes_share(uint64_t n, uint64_t *ret)
{
	MPI_Request request = MPI_REQUEST_NULL;
	int r = 0;

	if (MPI_Iallgather(&n, 1, MPI_UINT64_T, ret, 1, MPI_UINT64_T, MPI_COMM_WORLD, &request) !=
			MPI_SUCCESS ||
		rest_until_done(&request) < 0)
		r = -EIO;
	return MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS ? r : -EIO;
}

int limpet_team_share(
	const void *data, uint64_t n, void **ret, uint64_t *ret_sizes, int rank, int size)
{
	uint64_t all = 0, at = 0;
	char *memory;

	if (sizes_share(n, ret_sizes) < 0)
		return -EIO;
	for (int i = 0; i < size; i++)
		all += ret_sizes[i];
	memory = malloc(all + 1);
	if (!memory) {
		MPI_Abort(MPI_COMM_WORLD, 3); /* the others wait for this process */
		return -ENOMEM;
	}
	for (int i = 0; i < size; i++) {
		if (i == rank)
			memcpy(memory + at, data, n);
		if (broadcast(memory + at, ret_sizes[i], i) < 0)
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
