/* The file in which a traced program leaves the spans of its calls: shared memory that `limpet
 * stack run` reads (src/trace/stack/spans_reading.c) while the program runs, and after it has ended
 * in any way.
 *
 * A header, then chunks; nothing if the process may not have them. A thread owns the chunk that it
 * writes to; when that is full it takes the next one. A record is written when a call begins, and
 * completed when it ends, so that calls that never end are visible. The reader takes chunks when
 * all of their records are complete. It offers some of them to the program, which is cheaper than
 * new memory, and frees the others.
 */
#ifndef RUNTIME_SPANS_FILE_H
#define RUNTIME_SPANS_FILE_H

#include <stdint.h>

/* Environment variables: the directory of the file, and what to record. */
#define SPANS_DIRECTORY_VARIABLE "LIMPET_STACK_DIR"
#define SPANS_LAYERS_VARIABLE "LIMPET_STACK_LAYERS"	    /* "posix,mpi-io" */
#define SPANS_OPERATIONS_VARIABLE "LIMPET_STACK_OPERATIONS" /* a mask of 1 << enum span_op */
#define SPANS_REGIONS_VARIABLE "LIMPET_STACK_REGIONS" /* ",a,b,": only inside marks; "": all */
#define SPANS_RANGES_VARIABLE "LIMPET_STACK_RANGES"   /* "PROGRAM|NAME|lo-hi,lo-hi|NAME|lo-hi" */
/* "NAME,operation,size,offset,object,returns;..." */
#define SPANS_FUNCTIONS_VARIABLE "LIMPET_STACK_FUNCTIONS"
#define SPANS_APPLICATION_VARIABLE "LIMPET_STACK_APPLICATION" /* other programs are not traced */
#define SPANS_SUMMARY_VARIABLE "LIMPET_STACK_SUMMARY"	      /* "1": sums instead of records */
#define SPANS_TICKS_VARIABLE "LIMPET_STACK_TICKS"   /* "1": times may be the processor's counter */
#define SPANS_READER_VARIABLE "LIMPET_STACK_READER" /* the process that reads the files */
#define SPANS_PREFIX "spans."

#define SPANS_MAGIC UINT64_C(0x31534e4150534c50) /* "PLSPANS1" */
#define SPANS_VERSION 6

/* The layers. */
enum spans_layer {
	SPANS_LIBRARY,
	SPANS_HDF5,
	SPANS_PNETCDF,
	SPANS_MPI_IO,
	SPANS_POSIX,
	SPANS_LAYERS
};

/* Memory is reserved and given back in pages, which have up to 64 KiB on some machines. Chunks
 * begin and end at page boundaries there, too. */
enum {
	SPANS_HEADER = 65536,
	SPANS_CHUNK = 65536,
	SPANS_RECORD = 128,
	SPANS_IN_CHUNK = SPANS_CHUNK / SPANS_RECORD - 1, /* the first place is the chunk's header */
	SPANS_FUNCTION = 48,
	SPANS_TEXT = SPANS_RECORD - 32, /* bytes of a name per record */
	SPANS_NAME_MAX = 4096,
	SPANS_REUSABLE = 128, /* chunks on offer */
};
/* In a slot of `reusable`: a thread is emptying the chunk that was offered there. */
#define SPANS_EMPTYING UINT32_MAX
#define SPANS_CHUNKS                                                                               \
	(UINT32_C(1) << 19) /* 32 GiB of address space, of which little is ever used               \
			     */

/* The number of operations in enum span_op. */
#define SPANS_OPS 9

/* Sums over calls of a layer with one operation. */
struct spans_sum {
	uint64_t calls, errors, bytes;
	uint64_t ns, own_ns;  /* own: without the time of calls below */
	uint64_t together_ns; /* for collective calls: the same as own_ns */
	uint64_t longest_ns;  /* the last member, because it is compared, not added */
};
#define SPANS_SUM_WORDS (sizeof(struct spans_sum) / sizeof(uint64_t))

struct spans_header {
	uint64_t magic;
	uint32_t version, pid;
	int64_t start_ns;	/* CLOCK_MONOTONIC, when the file was made */
	int32_t rank, n_ranks;	/* of an MPI job; -1: unknown, or none */
	uint32_t n_chunks;	/* taken chunks; atomic */
	uint32_t active;	/* 1 << enum spans_layer: the recorded layers */
	uint32_t called;	/* the same, for layers that were called at least once */
	uint32_t ended;		/* 1: the program exited by itself */
	uint64_t pid_namespace; /* st_ino; 0: not known */
	uint64_t lost;		/* calls without room for a record */
	char program[64];	/* its name, NUL-terminated */
	uint32_t summing;	/* 1: there are sums instead of records */
	uint32_t unserved;	/* 1 << enum spans_layer: not built for the library that the program
				 * has */
	uint32_t reduced;	/* the number of ranks in these sums; 0: only this one */
	struct spans_sum sums[SPANS_LAYERS][SPANS_OPS];
	uint32_t ticks; /* 1: times of records are readings of the processor's counter */
	/* 1 + the place of a chunk that was read. The reader puts it into a slot that is 0; the
	 * thread that takes it empties it, and sets the slot to 0. Atomic. */
	uint32_t reusable[SPANS_REUSABLE];
	uint32_t confined; /* 1: it gave up system calls, and is no longer recorded */
	uint32_t rings;	   /* 1: it has used io_uring, which is not recorded */
};

struct spans_chunk {
	uint32_t tid;
	uint32_t n; /* records that were begun; atomic; may be more than fit */
	uint64_t first_id;
};

enum spans_state {
	SPANS_FREE = 0,
	SPANS_BEGUN,
	SPANS_DONE,
	SPANS_NAME, /* a struct spans_name; its text continues in the following records */
	SPANS_MORE, /* one of those */
};

struct spans_record {
	uint32_t state; /* atomic */
	uint8_t layer, op, flags, unused;
	uint64_t id, parent;
	int64_t start, end; /* ns of CLOCK_MONOTONIC, or ticks (header) */
	uint64_t device, inode;
	int64_t offset, size, result;
	union {
		char function[SPANS_FUNCTION]; /* NUL-terminated if shorter */
		struct {		       /* with the flag SPAN_LATER */
			char short_function[SPANS_FUNCTION - 8];
			int64_t requested; /* the time as above; 0: not yet */
		};
	};
};

/* The name of an object: the text begins here and continues in the following records. */
struct spans_name {
	uint32_t state; /* atomic */
	uint32_t len;
	uint64_t device, inode, unused;
	char text[SPANS_TEXT];
};

_Static_assert(sizeof(struct spans_header) <= SPANS_HEADER, "");
_Static_assert(sizeof(struct spans_record) == SPANS_RECORD, "");
_Static_assert(sizeof(struct spans_name) == SPANS_RECORD, "");

#endif
