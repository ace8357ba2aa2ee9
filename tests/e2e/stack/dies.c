/* A job of which rank 1 dies in the middle: `dies FILE`. */
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char data[4096];
	int rank;
	MPI_File f;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
	for (int i = 0; i < 5; i++)
		MPI_File_write_at(f, (MPI_Offset)(i * 2 + rank) * 4096, data, 4096, MPI_BYTE,
			MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1)
		kill(getpid(), SIGKILL);
	MPI_File_close(&f);
	MPI_Finalize();
	return 0;
}
