/* Variables that every rank writes its part of, at once and later: `variable FILE`. */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>

enum { PART = 10000 };

int main(int argc, char **argv)
{
	static float data[2 * PART];
	int file, dimension, first, second, rank, size, request, status, error;
	MPI_Offset from, part = PART;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	from = (MPI_Offset)rank * PART;
	ncmpi_create(MPI_COMM_WORLD, argv[1], NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file);
	ncmpi_def_dim(file, "x", (MPI_Offset)size * PART, &dimension);
	ncmpi_def_var(file, "first", NC_FLOAT, 1, &dimension, &first);
	ncmpi_def_var(file, "second", NC_FLOAT, 1, &dimension, &second);
	ncmpi_enddef(file);
	error = ncmpi_put_vara_float_all(file, first, &from, &part, data);
	printf("rank %d put: %d\n", rank, error);
	ncmpi_iput_vara_float(file, second, &from, &part, data, &request);
	error = ncmpi_wait_all(file, 1, &request, &status);
	printf("rank %d waited: %d %d\n", rank, error, status);
	error = ncmpi_get_var_float_all(file, first, data);
	printf("rank %d got: %d\n", rank, error);
	ncmpi_close(file);
	error = ncmpi_open(MPI_COMM_WORLD, "/nowhere/at/all", NC_NOWRITE, MPI_INFO_NULL, &file);
	printf("rank %d: %s\n", rank, ncmpi_strerror(error));
	MPI_Finalize();
	return 0;
}
