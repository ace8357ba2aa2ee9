/* From addresses to names: the image of an address of a process or of the kernel, and the function.
 *
 * Processes come and go faster than limpet can examine them. So an address may come with the
 * build-id of its file and its offset there. That is enough if the file is known from any other
 * process or from an exec event. Otherwise the mappings of the process are read, once per period.
 */
#ifndef TRACE_SYMBOLS_H
#define TRACE_SYMBOLS_H

#include "trace/symbols/elf_image.h"

#define SYMBOLS_IMAGE_MAX 64
#define SYMBOLS_FUNCTION_MAX 200

struct symbols;

/* `proc`: the path of /proc; `debug_dir`: the directory of separate debug files, NULL: none. NULL:
 * out of memory. */
struct symbols *symbols_new(const char *proc, const char *debug_dir);
void symbols_free(struct symbols *s);

struct symbols_query {
	uint64_t address;
	int pid;	    /* its process, unless the address belongs to the kernel */
	bool kernel;	    /* it belongs to the kernel */
	struct build_id id; /* of its file, if known, */
	uint64_t offset;    /* and the offset in it */
};

/* The name of an address. */
struct symbols_answer {
	char image[SYMBOLS_IMAGE_MAX];	     /* "libc.so.6", "kernel", "ext4.ko", "jit" */
	char function[SYMBOLS_FUNCTION_MAX]; /* "memcpy"; "libx.so+0x3000" without a symbol */
	bool known;			     /* false: nothing is known about the address */
};

/* 0 or -ENOMEM. */
int symbols_find(struct symbols *s, const struct symbols_query *q, struct symbols_answer *ret);

/* Events about processes. A process executed a file: `path` is the path that it, or its parent (0:
 * unknown), used. Or it mapped a file: `path` is as in maps, and may be "" or "[vdso]". 0 or
 * -ENOMEM. */
int symbols_executed(struct symbols *s, int pid, int parent, const char *path);
int symbols_mapped(struct symbols *s, int pid, uint64_t start, uint64_t end, uint64_t offset,
	uint64_t inode, const char *path);

/* Note the files of all current processes, for later, when they have ended. */
int symbols_survey(struct symbols *s);

/* A period is over: data about processes is read again when it is needed, and unused data is
 * forgotten. */
void symbols_tick(struct symbols *s);

#endif
