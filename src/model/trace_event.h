/* Events of traced processes: system calls, signals, new and ended processes.
 *
 * All backends (src/trace/backend.h) deliver these, the log of system calls in an archive
 * (src/archive/trace_log.h) stores them, and diagnosis and `limpet show` read them.
 */
#ifndef MODEL_TRACE_EVENT_H
#define MODEL_TRACE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

enum trace_what {
	TRACE_CALL = 1, /* a system call that has returned */
	TRACE_PENDING,	/* a call that has not returned: dur_ns is its duration so far */
	TRACE_SIGNAL,	/* delivered: nr is its number, ret the si_code, args[0] the sender's pid */
	TRACE_EXIT,  /* a process (its last thread) ended: ret is the wait status, nr its signal */
	TRACE_FORK,  /* a process or thread began: ret is its id, args[0] the clone flags */
	TRACE_EXEC,  /* the process runs another program from now on: text is its path */
	TRACE_ASYNC, /* I/O that AIO or io_uring completed: nr is the equivalent call (read, write,
		      * fsync, ...), args are those of that call (fd, address, bytes, offset) */
	TRACE_LOST,  /* `ret` events are missing here */
};

/* The kind of file behind a descriptor. */
enum trace_file {
	TRACE_FILE_NONE = 0, /* the call has no descriptor, or one that is not open */
	TRACE_FILE_STORAGE,  /* a regular file or a block device */
	TRACE_FILE_DIRECTORY,
	TRACE_FILE_TCP,
	TRACE_FILE_SOCKET, /* every other socket */
	TRACE_FILE_PIPE,
	TRACE_FILE_DEVICE, /* a character device: a terminal, /dev/null, /dev/fuse */
	TRACE_FILE_OTHER,  /* epoll, eventfd, timerfd, ... */
	TRACE_FILES,	   /* the number of kinds */
};

/* The purpose of a call. */
enum trace_call {
	TRACE_CALL_OTHER = 0,
	TRACE_CALL_READ,  /* reads data from a descriptor, by any call */
	TRACE_CALL_WRITE, /* writes data to a descriptor */
	TRACE_CALL_SYNC,
	TRACE_CALL_OPEN, /* makes or closes descriptors: open, close, dup, socket, accept, pipe */
	TRACE_CALL_META, /* names and attributes: stat, unlink, rename, mkdir, fallocate, xattrs */
	TRACE_CALL_CONNECT, /* connect, bind, listen, shutdown, socket options */
	TRACE_CALL_WAIT,    /* waits by design: poll, epoll_wait, select, futex, nanosleep, wait4 */
	TRACE_CALL_PROCESS, /* fork, exec, exit, kill */
	TRACE_CALL_MEMORY,  /* mmap, brk, mprotect */
	TRACE_CALLS,	    /* the number of purposes */
};

#define TRACE_ARGS 6
#define TRACE_TEXT_MAX 4096

/* Flags of an event. */
#define TRACE_COMPAT 1u	  /* a 32-bit call: nr is from that table */
#define TRACE_COARSE 2u	  /* the tracer itself caused most of this short time (ptrace) */
#define TRACE_RESTART 4u  /* a signal interrupted the call; the kernel repeats it */
#define TRACE_CUT 8u	  /* `text` was truncated */
#define TRACE_FD_PATH 16u /* `text` is the path of the call's descriptor; never in an archive */

struct trace_event {
	uint64_t seq;	  /* in the order of starts; calls may complete in another order */
	int64_t start_ns; /* CLOCK_MONOTONIC when delivered; since 1970 UTC in an archive */
	int64_t dur_ns;
	int32_t pid, tid;
	uint16_t nr;   /* from the table of this machine (model/syscalls.h) */
	uint8_t what;  /* enum trace_what */
	uint8_t flags; /* TRACE_COMPAT ... */
	uint8_t file;  /* enum trace_file of the descriptor of the call */
	int64_t ret;   /* as returned by the kernel: -ENOENT */
	uint64_t args[TRACE_ARGS];
	/* The data behind the arguments that identifies the file or peer of the call: see enum
	 * syscall_capture in model/syscalls.h. Not NUL-terminated; owned by the backend. */
	const char *text;
	uint32_t text_len;
};

/* How a descriptor of a process got its current meaning. */
enum trace_change {
	TRACE_FD_BEFORE = 1, /* open before tracing began */
	TRACE_FD_OPEN,	     /* open, creat, socket, pipe, epoll_create, ... */
	TRACE_FD_ACCEPT,
	TRACE_FD_CONNECT, /* the socket is now connected */
	TRACE_FD_DUP,	  /* dup, dup2, dup3, fcntl(F_DUPFD) of `from` */
	TRACE_FD_PASSED,  /* came in a message (SCM_RIGHTS) or by pidfd_getfd */
	TRACE_FD_FORK,	  /* inherited: the child has all descriptors of process `from`; fd is -1 */
	TRACE_FD_EXEC,	  /* exec closed it (close-on-exec) */
	TRACE_FD_CLOSE,
	TRACE_FD_SEEN, /* in use, but its opening was not recorded (summaries do not follow
			* opens) */
};

/* One change to the descriptor table of a process. */
struct trace_descriptor {
	uint64_t seq; /* of the call that caused it; 0: none */
	int64_t time_ns;
	int32_t pid, fd, from;
	uint8_t change;	  /* enum trace_change */
	uint8_t file;	  /* enum trace_file */
	const char *name; /* "/data/brick/x", "tcp 10.0.0.1:24007 10.0.0.9:49151" (local, remote),
			     "unix /run/x", "pipe:[123]", "anon_inode:[eventpoll]" */
};

/* The names of these in logs, JSON and components; "?" for unknown values. */
const char *trace_what_name(unsigned what);	/* "call", "signal" */
const char *trace_file_name(unsigned file);	/* "storage", "tcp"; "none" */
const char *trace_call_name(unsigned call);	/* "read", "meta" */
const char *trace_change_name(unsigned change); /* "open", "accept" */

#endif
