/* A span: one operation in one layer of the I/O stack, from its beginning to its end.
 *
 * A call of an application is a span of its uppermost layer (a collective write of MPI-IO, a pwrite
 * of libc). The operations that it causes are spans of the layers below: a call of MPI-IO causes
 * calls of libc. The libraries in runtime/ and the kernel tracer make spans, the archive keeps them
 * as the log "spans" (src/archive/span_log.h), and src/trace/stack joins them to a graph.
 */
#ifndef MODEL_SPAN_H
#define MODEL_SPAN_H

#include <stdint.h>

enum span_op {
	SPAN_OTHER = 0,
	SPAN_READ,
	SPAN_WRITE,
	SPAN_OPEN,
	SPAN_CLOSE,
	SPAN_SYNC,
	SPAN_META, /* names, attributes, sizes, views */
	SPAN_WAIT, /* waits for I/O that began earlier, or for other processes */
	SPAN_MARK, /* not an operation but a region of the program: `function` is its name */
	SPAN_OPS,  /* the number of operations */
};

/* Flags. */
#define SPAN_COLLECTIVE 1u /* made by all processes of a communicator together */
#define SPAN_OPEN_END                                                                              \
	2u /* it had not ended when its process or the recording ended; end_ns is that time */
#define SPAN_BUFFERED 4u /* the call returned before its data arrived (writeback) */
/* For disks that transfer pages of a file: `inode` belongs to that file, and `key` is the offset in
 * it. `offset` is always the place on the whole disk, even if `device` is a partition. */
#define SPAN_MAPPED 8u
/* A request of OrangeFS, or a call on a file in which its servers store data. The request names no
 * thread. For a client, `offset` is that of the first byte in the client's file, and the other
 * bytes may be in later strips; for a server it is the offset in the server's file. */
#define SPAN_STRIPED 16u

/* Asynchronous I/O: a program requested the call, which ended later. `unique` is the time in ns
 * from the beginning of the call until the request returned. Only until then was its thread in the
 * call. */
#define SPAN_LATER 32u

#define SPAN_NO_OFFSET INT64_C(-1)
#define SPAN_NO_RANK (-1)
#define SPAN_TEXT_MAX 4096

struct span {
	uint64_t id;	 /* unique in the recording of an observer, never 0 */
	uint64_t parent; /* the span of the same thread in which it began; 0: none, or unknown
			  */
	int64_t start_ns, end_ns; /* since 1970 */
	int32_t pid, tid;
	int32_t rank; /* of the process in its MPI job; SPAN_NO_RANK: none */
	uint8_t op;   /* enum span_op */
	uint8_t flags;
	/* The range of the object. `device` and `inode` identify it in this layer (st_dev, st_ino;
	 * 0: unknown). `key` identifies it across layers, for instance the number of the file that
	 * all clients of the file system use (0: none). */
	uint64_t device, inode, key;
	int64_t offset;	 /* bytes, SPAN_NO_OFFSET: none */
	int64_t size;	 /* requested bytes */
	int64_t result;	 /* transferred bytes, or 0; a negative errno if it failed */
	uint64_t unique; /* the number of a request if the layer has one (FUSE, RPC), else 0 */
	/* The message, if there is one: the connection (a number computed from both ends, the same
	 * on both; 0: none), the position of its first byte in the stream (TCP's sequence number),
	 * and its length. */
	uint64_t connection;
	uint32_t position, length;
	int32_t asker; /* the thread for which it is done, according to the request; 0: unknown */
	/* Texts are never NULL, but may be "". The owner says how long they are valid. */
	const char *layer;    /* "posix", "mpi-io"; src/trace/stack/layer.h */
	const char *function; /* "MPI_File_write_at_all", "pwrite64", "WRITE" */
	const char *object;   /* the path, or the name of the disk */
};

#endif
