/* The access patterns of IOR:
 * `patterns segmented|strided|files|collective FILE [BLOCKS] [BYTES] [SECONDS]`.
 *
 * Each rank writes BLOCKS blocks of BYTES and reads them back: in one piece of the file per rank
 * (segmented), in turns (strided), into a file of its own (files), or in turns by collective calls
 * (collective). They do that again until SECONDS have passed.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, n_ranks, n_blocks = 16, n_bytes = 1 << 20;

static MPI_Offset offset_of(const char *pattern, int block)
{
	if (!strcmp(pattern, "files"))
		return (MPI_Offset)block * n_bytes;
	if (!strcmp(pattern, "segmented"))
		return ((MPI_Offset)rank * n_blocks + block) * n_bytes;
	return ((MPI_Offset)block * n_ranks + rank) * n_bytes;
}

static int write_and_read(const char *pattern, MPI_File f, char *data)
{
	int together = !strcmp(pattern, "collective"), error = 0;

	for (int i = 0; i < n_blocks && !error; i++)
		error |= (together ? MPI_File_write_at_all : MPI_File_write_at)(
			f, offset_of(pattern, i), data, n_bytes, MPI_BYTE, MPI_STATUS_IGNORE);
	error |= MPI_File_sync(f);
	for (int i = 0; i < n_blocks && !error; i++)
		error |= (together ? MPI_File_read_at_all : MPI_File_read_at)(
			f, offset_of(pattern, i), data, n_bytes, MPI_BYTE, MPI_STATUS_IGNORE);
	return error;
}

/* All ranks go by the clock of the first. */
static int is_over(double end)
{
	int over = MPI_Wtime() >= end;

	MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return over;
}

int main(int argc, char **argv)
{
	int alone, error = 0;
	char path[4096], *data;
	double begin;
	MPI_File f;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
	if (argc < 3)
		MPI_Abort(MPI_COMM_WORLD, 2);
	n_blocks = argc > 3 ? atoi(argv[3]) : n_blocks;
	n_bytes = argc > 4 ? atoi(argv[4]) : n_bytes;
	alone = !strcmp(argv[1], "files");
	data = calloc(1, (size_t)n_bytes);
	if (alone)
		snprintf(path, sizeof(path), "%s.%d", argv[2], rank);
	else
		snprintf(path, sizeof(path), "%s", argv[2]);
	begin = MPI_Wtime();
	error |= MPI_File_open(alone ? MPI_COMM_SELF : MPI_COMM_WORLD, path,
		MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
	do
		error |= write_and_read(argv[1], f, data);
	while (!error && !is_over(begin + (argc > 5 ? atof(argv[5]) : 0)));
	error |= MPI_File_close(&f);
	if (rank == 0)
		printf("%s: %d ranks, %.2f s\n", argv[1], n_ranks, MPI_Wtime() - begin);
	MPI_Finalize();
	return error != 0;
}
