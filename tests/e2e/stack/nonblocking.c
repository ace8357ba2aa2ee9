/* A job of MPI-IO whose calls return before the end of their I/O: `nonblocking FILE`. */
#include <mpi.h>
#include <stdio.h>

enum { BLOCK = 65536, ROUNDS = 3 };

int main(int argc, char **argv)
{
	static char data[ROUNDS][BLOCK];
	MPI_Request requests[ROUNDS];
	MPI_Status status;
	int rank, size, n;
	MPI_File f;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
	for (int i = 0; i < ROUNDS; i++)
		MPI_File_iwrite_at(f, (MPI_Offset)(i * size + rank) * BLOCK, data[i], BLOCK,
			MPI_BYTE, &requests[i]);
	for (int i = 0; i < ROUNDS; i++) {
		MPI_Wait(&requests[i], &status);
		MPI_Get_count(&status, MPI_BYTE, &n);
		printf("rank %d wrote %d\n", rank, n);
	}
	MPI_File_close(&f);
	MPI_Finalize();
	return 0;
}
