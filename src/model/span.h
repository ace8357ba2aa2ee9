/* A span: one operation in one layer of the I/O stack, from its beginning to its end.
 *
 * A call of an application is a span of its uppermost layer (a collective write of MPI-IO, a pwrite
 * of libc). The operations that it causes further down are spans of the layers below: a call of
 * MPI-IO becomes calls of libc. The libraries in runtime/ and the kernel tracer make spans, the
 * archive keeps them as the log "spans" (src/archive/span_log.h), and src/trace/stack joins them to
 * a graph.
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
	SPAN_WAIT, /* for I/O that began earlier, or for other processes */
	SPAN_MARK, /* no operation but a region of the program: `function` is the region's name */
	SPAN_OPS,  /* how many there are */
};

/* Flags. */
#define SPAN_COLLECTIVE 1u /* all processes of a communicator make it together */
#define SPAN_OPEN_END                                                                              \
	2u /* it had not ended when its process or the recording ended; end_ns is that time */
#define SPAN_BUFFERED 4u /* the call returned before its data was where it belongs (writeback) */
/* For disks that move pages of a file: `inode` is that file's, `key` the offset in it. `offset` is
 * the place on the whole disk in any case, even if `device` is a partition. */
#define SPAN_MAPPED 8u
/* A request of OrangeFS, or a call for a file in which its servers keep data. The request names no
 * thread. Of a client's, `offset` is that of its first byte in the client's file, and its other
 * bytes may be strips further behind; of a server's it is that in the server's file. */
#define SPAN_STRIPED 16u

#define SPAN_NO_OFFSET INT64_C(-1)
#define SPAN_NO_RANK (-1)
#define SPAN_TEXT_MAX 4096

struct span {
	uint64_t id;	 /* unique among the spans of an observer's recording, never 0 */
	uint64_t parent; /* the span of the same thread inside which it began; 0: none, or not known
			  */
	int64_t start_ns, end_ns; /* since 1970 */
	int32_t pid, tid;
	int32_t rank; /* of the process in its MPI job, SPAN_NO_RANK: in none */
	uint8_t op;   /* enum span_op */
	uint8_t flags;
	/* The range of an object that it is about. `device` and `inode` are the object's in this
	 * layer (st_dev, st_ino; 0: not known). `key` identifies the object across layers, for
	 * instance the file's number as all clients of the file system see it (0: none). */
	uint64_t device, inode, key;
	int64_t offset;	 /* bytes, SPAN_NO_OFFSET: none */
	int64_t size;	 /* bytes that were asked for */
	int64_t result;	 /* bytes that were moved, or 0; negative errno where it failed */
	uint64_t unique; /* the number of a request if the layer has one (FUSE, RPC), else 0 */
	/* The message that it is about, if any: the connection (a number made of both ends, the
	 * same at both; 0: none), the position of its first byte in the stream (TCP's sequence
	 * number), and its length. */
	uint64_t connection;
	uint32_t position, length;
	int32_t asker; /* the thread on whose behalf it is done, according to the request; 0: not
			  known */
	/* Texts are valid as long as their owner says; never NULL, but "". */
	const char *layer;    /* "posix", "mpi-io"; src/trace/stack/layer.h */
	const char *function; /* "MPI_File_write_at_all", "pwrite64", "WRITE" */
	const char *object;   /* the path, or the disk's name */
};

#endif
