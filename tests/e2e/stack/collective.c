/* A job of MPI-IO with a known pattern: `collective FILE`. */
#include <mpi.h>
#include <stdio.h>

enum { BLOCK = 65536, ROUNDS = 3 };

int main(int argc, char **argv)
{
	static char data[BLOCK];
	int rank, size, error, class = 0;
	MPI_Status status;
	MPI_File f;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
	for (int i = 0; i < ROUNDS; i++)
		MPI_File_write_at_all(f, (MPI_Offset)(i * size + rank) * BLOCK, data, BLOCK,
			MPI_BYTE, MPI_STATUS_IGNORE);
	MPI_File_read_at(f, 8 * rank, data, 25, MPI_INT, &status);
	MPI_File_sync(f);
	MPI_File_close(&f);
	error = MPI_File_open(MPI_COMM_SELF, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &f);
	MPI_Error_class(error, &class);
	printf("rank %d of %d: %s\n", rank, size,
		class == MPI_ERR_NO_SUCH_FILE ? "no such file" : "another error");
	MPI_Finalize();
	return 0;
}
