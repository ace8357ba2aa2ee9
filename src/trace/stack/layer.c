#include "trace/stack/layer.h"

#include "base/array.h"
#include "model/span.h"
#include <stddef.h>
#include <string.h>

const struct layer layers[] = {
	{"library", "calls of any library", "the functions that a configuration names",
		"liblimpet-stack.so", LAYER_PROGRAM},
	{"hdf5", "calls of HDF5", "H5Fcreate, H5Dwrite, H5Dread, ...", "liblimpet-stack-hdf5.so",
		LAYER_PROGRAM},
	{"pnetcdf", "calls of PnetCDF", "ncmpi_create, ncmpi_put_vara_all, ncmpi_wait_all, ...",
		"liblimpet-stack-pnetcdf.so", LAYER_PROGRAM},
	{"mpi-io", "calls of MPI-IO", "MPI_File_open, MPI_File_write_at_all, ...",
		"liblimpet-stack-mpi.so", LAYER_PROGRAM},
	{"posix", "calls of the C library", "open, pread, pwrite, fsync, close, ...",
		"liblimpet-stack.so", LAYER_PROGRAM},
	{"fuse", "requests of the kernel to a file system's daemon on this host",
		"FUSE requests, from when they are queued until they are answered", NULL,
		LAYER_CLIENT},
	{"client", "requests inside that daemon", "from reading /dev/fuse to writing the answer",
		NULL, LAYER_CLIENT},
	{"network", "requests from the daemon to a server",
		"messages over TCP, from sending one until its answer is read", NULL,
		LAYER_NETWORK},
	{"server", "requests inside a server's daemon",
		"messages over TCP, from when one is read until its answer is sent", NULL,
		LAYER_SERVER},
	{"storage", "calls of a server's daemon for its files",
		"system calls: pread, pwrite, fsync, ...", NULL, LAYER_SERVER},
	{"block", "requests to disks",
		"from when they are queued until the disk has completed them", NULL, LAYER_DISK},
	{NULL, NULL, NULL, NULL, LAYER_PROGRAM},
};

const unsigned layers_n = ARRAY_SIZE(layers) - 1;

int layer_find(const char *name)
{
	for (unsigned i = 0; i < layers_n; i++) {
		if (!strcmp(layers[i].name, name))
			return (int)i;
	}
	return -1;
}

const char *const span_op_names[SPAN_OPS + 1] = {
	[SPAN_OTHER] = "other",
	[SPAN_READ] = "read",
	[SPAN_WRITE] = "write",
	[SPAN_OPEN] = "open",
	[SPAN_CLOSE] = "close",
	[SPAN_SYNC] = "sync",
	[SPAN_META] = "meta",
	[SPAN_WAIT] = "wait",
	[SPAN_MARK] = "mark",
};

int span_op_find(const char *name)
{
	for (int i = 0; i < SPAN_OPS; i++) {
		if (!strcmp(span_op_names[i], name))
			return i;
	}
	return -1;
}
