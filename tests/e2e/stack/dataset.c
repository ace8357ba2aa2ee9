/* A dataset that every rank writes its part of: `dataset FILE`. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>

enum { PART = 10000 };

int main(int argc, char **argv)
{
	static double data[PART];
	hsize_t all, part = PART, from;
	hid_t access, move, file, space, memory, set;
	int rank, size;
	herr_t done;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	access = H5Pcreate(H5P_FILE_ACCESS);
	H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
	file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
	all = (hsize_t)size * PART;
	from = (hsize_t)rank * PART;
	space = H5Screate_simple(1, &all, NULL);
	memory = H5Screate_simple(1, &part, NULL);
	set = H5Dcreate2(
		file, "/data", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	H5Sselect_hyperslab(space, H5S_SELECT_SET, &from, NULL, &part, NULL);
	move = H5Pcreate(H5P_DATASET_XFER);
	H5Pset_dxpl_mpio(move, H5FD_MPIO_INDEPENDENT);
	done = H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, move, data);
	printf("rank %d wrote: %d\n", rank, (int)done);
	H5Dclose(set);
	H5Sclose(space);
	H5Sclose(memory);
	H5Pclose(access);
	H5Pclose(move);
	H5Fclose(file);
	MPI_Finalize();
	return 0;
}
