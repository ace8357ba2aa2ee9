/* The I/O of the FLASH code over HDF5: `flash_hdf5 PREFIX [BLOCKS]`.
 *
 * As the FLASH I/O benchmark of PnetCDF does it over that library: each rank has about 80 blocks of
 * 8 x 8 x 8 cells, and writes, together with all others, a checkpoint with 24 variables in double
 * precision and two plot files with 4 in single precision, after a few small tables.
 */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 8 * 8 * 8, VARIABLES = 24, PLOTTED = 4 };

static int rank, n_ranks;
static hsize_t own, first, all; /* blocks */

/* Rows first .. first + own of a dataset of `all` rows with `width` values each. */
static void write_rows(
	hid_t file, hid_t together, const char *name, hid_t type, hsize_t width, const void *data)
{
	hsize_t size[2] = {all, width}, at[2] = {first, 0}, part[2] = {own, width};
	hid_t space = H5Screate_simple(2, size, NULL), memory = H5Screate_simple(2, part, NULL);
	hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);

	H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, part, NULL);
	if (H5Dwrite(set, type, memory, space, together, data) < 0)
		MPI_Abort(MPI_COMM_WORLD, 1);
	H5Dclose(set);
	H5Sclose(memory);
	H5Sclose(space);
}

static void write_file(const char *prefix, const char *suffix, int variables, hid_t type)
{
	char path[4096], name[32];
	hid_t access = H5Pcreate(H5P_FILE_ACCESS), together = H5Pcreate(H5P_DATASET_XFER), file;
	double *data = calloc(own * CELLS, sizeof(*data));

	snprintf(path, sizeof(path), "%s%s.h5", prefix, suffix);
	H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
	H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE);
	file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
	write_rows(file, together, "refine level", H5T_NATIVE_INT, 1, data);
	write_rows(file, together, "node type", H5T_NATIVE_INT, 1, data);
	write_rows(file, together, "gid", H5T_NATIVE_INT, 15, data);
	write_rows(file, together, "coordinates", H5T_NATIVE_DOUBLE, 3, data);
	write_rows(file, together, "block size", H5T_NATIVE_DOUBLE, 3, data);
	write_rows(file, together, "bounding box", H5T_NATIVE_DOUBLE, 6, data);
	for (int i = 0; i < variables; i++) {
		snprintf(name, sizeof(name), "unk%02d", i + 1);
		write_rows(file, together, name, type, CELLS, data);
	}
	H5Fclose(file);
	H5Pclose(access);
	H5Pclose(together);
	free(data);
}

int main(int argc, char **argv)
{
	double begin;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
	if (argc < 2)
		MPI_Abort(MPI_COMM_WORLD, 2);
	own = argc > 2 ? (hsize_t)atol(argv[2]) : 80;
	first = own * (hsize_t)rank;
	all = own * (hsize_t)n_ranks;
	MPI_Barrier(MPI_COMM_WORLD);
	begin = MPI_Wtime();
	write_file(argv[1], "chk_0000", VARIABLES, H5T_NATIVE_DOUBLE);
	write_file(argv[1], "plt_cnt_0000", PLOTTED, H5T_NATIVE_FLOAT);
	write_file(argv[1], "plt_crn_0000", PLOTTED, H5T_NATIVE_FLOAT);
	if (rank == 0)
		printf("%d ranks, %.2f s\n", n_ranks, MPI_Wtime() - begin);
	MPI_Finalize();
	return 0;
}
