/* From addresses to names: which image an address of a process or of the kernel is in, and which
 * function.
 *
 * Processes come and go faster than they can be asked. So an address may come with the build-id of
 * its file and its offset there, which is enough if any process has shown that file before, or an
 * execution has told its path. Else the process is asked what it has mapped, once per period.
 */
#ifndef TRACE_SYMBOLS_H
#define TRACE_SYMBOLS_H

#include "trace/symbols/elf_image.h"

#define SYMBOLS_IMAGE_MAX 64
#define SYMBOLS_FUNCTION_MAX 200

struct symbols;

/* `proc`: where /proc is; `debug_dir`: where separate debug files are, NULL: nowhere. NULL: out of
 * memory. */
struct symbols *symbols_new(const char *proc, const char *debug_dir);
void symbols_free(struct symbols *s);

struct symbols_query {
	uint64_t address;
	int pid;	    /* whose it is; unless it is the kernel's */
	bool kernel;	    /* it is one of the kernel's */
	struct build_id id; /* of its file, where that is known, */
	uint64_t offset;    /* and where in it */
};

/* What an address is called. */
struct symbols_answer {
	char image[SYMBOLS_IMAGE_MAX];	     /* "libc.so.6", "kernel", "ext4.ko", "jit" */
	char function[SYMBOLS_FUNCTION_MAX]; /* "memcpy"; "libx.so+0x3000" without a symbol */
	bool known;			     /* false: nobody could say where the address is */
};

/* 0 or -ENOMEM. */
int symbols_find(struct symbols *s, const struct symbols_query *q, struct symbols_answer *ret);

/* What is reported about processes: one executed a file; one mapped one (as maps have it, `path`
 * may be
 * "" or "[vdso]"). 0 or -ENOMEM. */
int symbols_executed(struct symbols *s, int pid, const char *path);
int symbols_mapped(struct symbols *s, int pid, uint64_t start, uint64_t end, uint64_t offset,
	uint64_t inode, const char *path);

/* Note the files of all processes that are there, for when they have ended. */
int symbols_survey(struct symbols *s);

/* A period is over: what was read of processes is read again when it is needed, and what nobody
 * needs any more is forgotten. */
void symbols_tick(struct symbols *s);

#endif
