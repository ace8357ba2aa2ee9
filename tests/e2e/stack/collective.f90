! collective.c in Fortran, by the module that MODULE names: `collective FILE`.
program collective
#if defined(USE_MPI_F08)
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  implicit none
#if !defined(USE_MPI_F08) && !defined(USE_MPI)
  include 'mpif.h'
#endif
#if defined(USE_MPI_F08)
  type(MPI_File) :: f
  type(MPI_Status) :: status
#else
  integer :: f, status(MPI_STATUS_SIZE)
#endif
  integer, parameter :: block = 16384 ! of 4 bytes
  integer :: data(block), rank, ranks, error, class, i, n
  integer(kind=MPI_OFFSET_KIND) :: at
  character(len=4096) :: path

  data = 7
  call get_command_argument(1, path)
#if defined(USE_MPI_F08)
  call MPI_Init()
#else
  call MPI_Init(error)
#endif
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, f, error)
  do i = 0, 2
    at = int(i * ranks + rank, MPI_OFFSET_KIND) * block * 4
    call MPI_File_write_at_all(f, at, data, block, MPI_INTEGER, MPI_STATUS_IGNORE, error)
  end do
  at = 8 * rank
  call MPI_File_read_at(f, at, data, 25, MPI_INTEGER, status, error)
  call MPI_Get_count(status, MPI_INTEGER, n, error)
  call MPI_File_sync(f, error)
  call MPI_File_close(f, error)
  call MPI_File_open(MPI_COMM_SELF, '/nowhere/at/all', MPI_MODE_RDONLY, MPI_INFO_NULL, f, error)
  call MPI_Error_class(error, class, i)
  write (*, '(a,i0,a,i0,a,i0,a,l1)') 'rank ', rank, ' of ', ranks, ': ', n, ' no such file: ', class == MPI_ERR_NO_SUCH_FILE
  call MPI_Finalize(error)
end program
