/* Shared by the programs that follow I/O below the C library, and by their reader.
 *
 * Compiled twice, for BPF and for this machine, so it contains only numbers of fixed size.
 */
#ifndef TRACE_BPF_STACK_H
#define TRACE_BPF_STACK_H

#include <stdint.h>

enum stack_what {
	STACK_EVENT_FUSE = 1, /* a FUSE request, from queue to answer */
	STACK_EVENT_CLIENT,   /* the same inside the daemon, from /dev/fuse to /dev/fuse */
	STACK_EVENT_MESSAGE,  /* that was sent or received: struct stack_message */
	STACK_EVENT_CALL,     /* a system call on a file: struct stack_file_call */
	STACK_EVENT_BIO,      /* I/O of a disk */
};

/* Flags of an event. */
#define STACK_EVENT_SENT 1u	  /* a message was sent; otherwise received */
#define STACK_EVENT_MAPPED 2u	  /* inode and key belong to the page cache that is transferred */
#define STACK_EVENT_BACKGROUND 4u /* a FUSE request for which no thread waits in the kernel */
#define STACK_EVENT_WRITES 8u	  /* for a disk, or for a call */

/* The common beginning of all events. */
struct stack_event {
	uint8_t what, flags;
	uint16_t op; /* FUSE: the operation; a call: its number; a disk: REQ_OP_* */
	uint32_t pid, tid;
	uint32_t asker; /* the thread that a FUSE request names */
	uint64_t start_ns, end_ns;
	uint64_t device; /* the kernel's number: major << 20 | minor */
	uint64_t inode;
	uint64_t key;	 /* FUSE: the nodeid; a disk: offset in the file, of page cache */
	uint64_t unique; /* FUSE: of the request; a call: its descriptor; a disk: of the request */
	int64_t offset, size, result;
};

#define STACK_NAME 40

/* A call on a file, with the name under which it was opened, without directories. */
struct stack_file_call {
	struct stack_event event;
	char name[STACK_NAME]; /* NUL-terminated */
};

/* How messages are separated in the data of a connection. */
enum stack_protocol {
	STACK_RPC, /* records of RPC; the head begins after the record mark */
	STACK_BMI, /* messages of OrangeFS; the head begins with BMI's header */
};

/* Requests of OrangeFS list all parts of a file before the range of bytes. */
#define STACK_HEAD 512
#define STACK_HEAD_SHORT 256 /* for records of RPC; longer heads are truncated */

/* The beginning of a message. */
struct stack_message {
	struct stack_event event;
	uint8_t local[16], remote[16];
	uint16_t family, local_port, remote_port, pad; /* ports in network byte order */
	uint32_t position, length;		       /* TCP sequence number; length with mark or
							* header */
	uint32_t n_head, protocol;		       /* enum stack_protocol */
	uint8_t head[STACK_HEAD];
};

/* The roles of a watched process. Children get the role in the upper half. */
#define STACK_ROLE_DAEMON 1u /* its messages, its calls on files, and /dev/fuse */
#define STACK_ROLE_APP 2u    /* the disks of its files */
#define STACK_ROLE_CHILD_SHIFT 16

/* Classes of system calls, by their arguments. */
enum stack_class {
	STACK_CLASS_NONE,
	STACK_CLASS_READ,      /* fd, buffer, size */
	STACK_CLASS_WRITE,     /* the same */
	STACK_CLASS_PREAD,     /* and an offset */
	STACK_CLASS_PWRITE,    /* and an offset */
	STACK_CLASS_READV,     /* fd, vector, count */
	STACK_CLASS_WRITEV,    /* the same */
	STACK_CLASS_PREADV,    /* and an offset */
	STACK_CLASS_PWRITEV,   /* and an offset */
	STACK_CLASS_RECVFROM,  /* fd, buffer, size, flags */
	STACK_CLASS_SENDTO,    /* the same */
	STACK_CLASS_RECVMSG,   /* fd, header, flags */
	STACK_CLASS_SENDMSG,   /* the same */
	STACK_CLASS_SYNC,      /* fd */
	STACK_CLASS_TRUNCATE,  /* fd, length */
	STACK_CLASS_FALLOCATE, /* fd, mode, offset, length */
};

#define STACK_CALLS_MAX 512

/* Set before the programs are loaded. */
struct stack_settings {
	uint32_t fuse_rdev;			  /* of /dev/fuse, the kernel's number */
	uint32_t wake_bytes;			  /* wake the reader when this much is waiting */
	uint8_t messages, client, storage, block; /* is it recorded? */
	uint8_t own;  /* for disks, only requests of watched processes and of files that they
		       * wrote */
	uint8_t cast; /* bpf_rdonly_cast() exists */
	uint8_t pad[2];
	uint8_t classes[STACK_CALLS_MAX]; /* enum stack_class */
};

/* Counted while it runs. */
struct stack_shared {
	uint64_t lost;	    /* events without room */
	uint64_t unframed;  /* messages of an unknown protocol */
	uint64_t n_request; /* of disks */
};

#endif
