/* The system calls: names, purposes, and the meaning of their arguments.
 *
 * One table defines what the tracers copy, how the log is printed, and how calls are classified.
 */
#ifndef MODEL_SYSCALLS_H
#define MODEL_SYSCALLS_H

#include "model/trace_event.h"

/* The type of an argument, for printing. */
enum syscall_arg {
	ARG_NONE = 0,
	ARG_INT,    /* signed decimal */
	ARG_SIZE,   /* unsigned decimal */
	ARG_HEX,    /* a pointer, or another value that is printed in hexadecimal */
	ARG_OCTAL,  /* a mode */
	ARG_FD,	    /* a descriptor */
	ARG_DIRFD,  /* a descriptor of a directory or AT_FDCWD */
	ARG_PATH,   /* pointer to a path */
	ARG_SIGNAL, /* a signal's number */
	ARG_OPEN_FLAGS,
	ARG_ADDRESS, /* pointer to a socket address */
	ARG_FDS,     /* pointer to two descriptors that the call fills in */
};

/* The data that a tracer copies to event.text at the exit of the call. A path that the call itself
 * may free or overwrite (execve) is copied at its entry. */
enum syscall_capture {
	CAPTURE_NONE = 0,
	CAPTURE_PATH0,	   /* the string at args[0] */
	CAPTURE_PATH1,	   /* at args[1] (openat, unlinkat, ...) */
	CAPTURE_PATHS_01,  /* at args[0] and args[1], separated by a NUL (rename, link, symlink) */
	CAPTURE_PATHS_13,  /* at args[1] and args[3] (renameat, linkat) */
	CAPTURE_PATHS_02,  /* at args[0] and args[2] (symlinkat) */
	CAPTURE_ENDPOINTS, /* struct trace_endpoints of the socket: args[0], or ret for accept */
	CAPTURE_FDS,	   /* the two int32_t at args[0] (pipe) or args[3] (socketpair) */
	CAPTURE_RIGHTS,	   /* the descriptors that came with SCM_RIGHTS (recvmsg), each an
			    * int32_t */
};

/* Both ends of a socket, in network byte order; CAPTURE_ENDPOINTS. IPv4 addresses are in the first
 * four bytes. family 0: it is not a TCP socket, or not connected yet. */
struct trace_endpoints {
	uint16_t family; /* AF_INET, AF_INET6 */
	uint16_t local_port, remote_port;
	uint16_t pad;
	uint8_t local[16], remote[16];
};

struct syscall_info {
	const char *name;
	uint8_t call;		  /* enum trace_call */
	uint8_t capture;	  /* enum syscall_capture */
	int8_t fd_arg;		  /* index of the argument with its descriptor; -1: none */
	uint8_t args[TRACE_ARGS]; /* enum syscall_arg; ARG_NONE ends them */
};

#define SYSCALL_MAX 512

/* The call with this number in the table of this machine; NULL if unknown. */
const struct syscall_info *syscall_get(unsigned nr);
/* The same for the 32-bit table (known on x86-64). Usually this is the entry of the same call of
 * 64-bit programs: calls that take two arguments (offsets) are not distinguished, and the messages
 * of CAPTURE_RIGHTS have another layout in memory. */
const struct syscall_info *syscall_get_compat(unsigned nr);
/* The number of a call by its name; -1 if there is none. */
int syscall_number(const char *name);

/* Does it return a new descriptor (open, socket, accept, ...)? */
bool syscall_returns_fd(const struct syscall_info *s);
/* Does it return a result? The end of a signal handler does not: the result register then has the
 * value from before the signal. */
bool syscall_has_result(const struct syscall_info *s);

/* The call of an event (TRACE_CALL, _PENDING or _ASYNC); NULL for other events. */
const struct syscall_info *trace_event_syscall(const struct trace_event *e);
/* The number of its call in the table of this machine, even for 32-bit calls; -1: none. */
int trace_event_native(const struct trace_event *e);
/* The descriptor of an event: its fd argument, or the result of open and accept; -1: none. */
int trace_event_fd(const struct trace_event *e);
/* The enum trace_call of an event (TRACE_CALL, _PENDING or _ASYNC), else TRACE_CALL_OTHER. */
unsigned trace_event_call(const struct trace_event *e);
/* The errno of a call that failed, else 0. Restarts (ERESTARTSYS and similar) are not failures. A
 * call without a result cannot fail. */
int trace_event_errno(const struct trace_event *e);
/* The number of bytes that a read or write transferred; 0 for all other calls. sendfile, splice,
 * tee and copy_file_range are writes to the receiving descriptor; recvmmsg and sendmmsg return
 * messages, not bytes. */
int64_t trace_event_bytes(const struct trace_event *e);
/* Is waiting its purpose, so that its duration means nothing? TRACE_CALL_WAIT, accept, and reads
 * from descriptors that are neither a file nor a TCP connection (a pipe, a terminal, /dev/fuse, an
 * eventfd). */
bool trace_event_waits(const struct trace_event *e);

/* "ENOSPC", "SIGXFSZ"; if there is no name, "E999" or "SIG99" in `buf`. */
#define SYSCALL_NAME_MAX 16
const char *errno_name(int number, char buf[SYSCALL_NAME_MAX]);
const char *signal_name(int number, char buf[SYSCALL_NAME_MAX]);
/* The number of an errno by its name; 0 if there is none. */
int errno_number(const char *name);

#endif
