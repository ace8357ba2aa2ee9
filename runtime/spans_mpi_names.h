/* The functions of MPI that are interposed, each with the number of its arguments. They are doors
 * (spans_mpi_door.c) to the layer for the MPI library that the program has.
 *
 * All arguments are integers or pointers, each in a register or a word of the stack, for any MPI
 * library. The lengths of Fortran strings are additional arguments at the end.
 */
#ifndef RUNTIME_SPANS_MPI_NAMES_H
#define RUNTIME_SPANS_MPI_NAMES_H

/* The prefix of functions in the libraries behind a door. */
#define SPANS_MPI_PREFIX "limpet_"

/* Functions for files, as C and Fortran call them. Those of the module mpi_f08 call other Fortran
 * functions in Open MPI (ompi_..._f), and those of C in MPICH if they have a buffer. */
#define SPANS_MPI_FILE(X, name, n, fortran_n)                                                      \
	X(MPI_File_##name, n)                                                                      \
	X(mpi_file_##name##_, fortran_n)                                                           \
	X(ompi_file_##name##_f, fortran_n)

/* A function with a count also has a form for large counts (MPI 4). */
#define SPANS_MPI_COUNTED(X, name, n, fortran_n)                                                   \
	SPANS_MPI_FILE(X, name, n, fortran_n)                                                      \
	X(MPI_File_##name##_c, n)

#define SPANS_MPI_PLAIN(X, name, n, fortran_n)                                                     \
	SPANS_MPI_FILE(X, name, n, fortran_n)                                                      \
	X(mpi_file_##name##_f08_, fortran_n)

#define SPANS_MPI_SPLIT(X, name, n, fortran_n)                                                     \
	SPANS_MPI_COUNTED(X, name##_begin, n, fortran_n)                                           \
	SPANS_MPI_FILE(X, name##_end, 3, 4)

#define SPANS_MPI_NAMES(X)                                                                         \
	X(MPI_Init, 2)                                                                             \
	X(MPI_Init_thread, 4)                                                                      \
	X(MPI_Finalize, 0)                                                                         \
	X(mpi_init_, 1)                                                                            \
	X(mpi_init_thread_, 3)                                                                     \
	X(mpi_finalize_, 1)                                                                        \
	X(mpi_init_f08_, 1)                                                                        \
	X(mpi_init_thread_f08_, 3)                                                                 \
	X(mpi_finalize_f08_, 1)                                                                    \
	SPANS_MPI_PLAIN(X, open, 5, 7)                                                             \
	SPANS_MPI_PLAIN(X, set_view, 6, 8)                                                         \
	SPANS_MPI_PLAIN(X, close, 1, 2)                                                            \
	SPANS_MPI_PLAIN(X, sync, 1, 2)                                                             \
	SPANS_MPI_PLAIN(X, set_size, 2, 3)                                                         \
	SPANS_MPI_PLAIN(X, preallocate, 2, 3)                                                      \
	SPANS_MPI_COUNTED(X, read_at, 6, 7)                                                        \
	SPANS_MPI_COUNTED(X, read_at_all, 6, 7)                                                    \
	SPANS_MPI_COUNTED(X, write_at, 6, 7)                                                       \
	SPANS_MPI_COUNTED(X, write_at_all, 6, 7)                                                   \
	SPANS_MPI_COUNTED(X, read, 5, 6)                                                           \
	SPANS_MPI_COUNTED(X, read_all, 5, 6)                                                       \
	SPANS_MPI_COUNTED(X, write, 5, 6)                                                          \
	SPANS_MPI_COUNTED(X, write_all, 5, 6)                                                      \
	SPANS_MPI_COUNTED(X, read_shared, 5, 6)                                                    \
	SPANS_MPI_COUNTED(X, read_ordered, 5, 6)                                                   \
	SPANS_MPI_COUNTED(X, write_shared, 5, 6)                                                   \
	SPANS_MPI_COUNTED(X, write_ordered, 5, 6)                                                  \
	SPANS_MPI_COUNTED(X, iread_at, 6, 7)                                                       \
	SPANS_MPI_COUNTED(X, iread_at_all, 6, 7)                                                   \
	SPANS_MPI_COUNTED(X, iwrite_at, 6, 7)                                                      \
	SPANS_MPI_COUNTED(X, iwrite_at_all, 6, 7)                                                  \
	SPANS_MPI_COUNTED(X, iread, 5, 6)                                                          \
	SPANS_MPI_COUNTED(X, iread_all, 5, 6)                                                      \
	SPANS_MPI_COUNTED(X, iwrite, 5, 6)                                                         \
	SPANS_MPI_COUNTED(X, iwrite_all, 5, 6)                                                     \
	SPANS_MPI_COUNTED(X, iread_shared, 5, 6)                                                   \
	SPANS_MPI_COUNTED(X, iwrite_shared, 5, 6)                                                  \
	SPANS_MPI_SPLIT(X, read_at_all, 5, 6)                                                      \
	SPANS_MPI_SPLIT(X, write_at_all, 5, 6)                                                     \
	SPANS_MPI_SPLIT(X, read_all, 4, 5)                                                         \
	SPANS_MPI_SPLIT(X, write_all, 4, 5)                                                        \
	SPANS_MPI_SPLIT(X, read_ordered, 4, 5)                                                     \
	SPANS_MPI_SPLIT(X, write_ordered, 4, 5)

#endif
