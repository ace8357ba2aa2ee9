/* The table of a program that counts its function calls: a file in memory that the program writes
 * and others read while it runs, or after it has ended.
 *
 * header | modules | functions | switches | threads | counters
 *
 * Counters are per thread, so that no call waits for another. When a thread has ended, another one
 * takes its row with the counts in it, so the sum over all rows only grows.
 *
 * Readers must not trust it: any program can write such a file.
 */
#ifndef RUNTIME_CALLS_TABLE_H
#define RUNTIME_CALLS_TABLE_H

#include <stdint.h>

#define CALLS_MAGIC 0x31534c4c4143504cULL /* "LPCALLS1" */

/* The file is DIRECTORY/limpet-calls.PID.BIRTH, BIRTH being header.birth_ns in decimal. */
#define CALLS_DIRECTORY "/dev/shm"
#define CALLS_DIRECTORY_VARIABLE "LIMPET_CALLS_DIR"
#define CALLS_PREFIX "limpet-calls."
/* The name of a memfd with a table. If the directory is not the default, ":" and the directory
 * follow, so that a reader only reads tables for its directory. */
#define CALLS_MEMFD "limpet-calls"
/* A reader touches this file at least every CALLS_READER_S seconds. Without a reader, a program
 * removes its table when it ends. */
#define CALLS_READER "limpet-calls.reader"
#define CALLS_READER_S 60
/* The absolute path of a list of functions that are not counted (calls_list.h). */
#define CALLS_LIST_VARIABLE "LIMPET_CALLS_FUNCTIONS"

enum {
	CALLS_MAX_FUNCTIONS = 16384,
	CALLS_MAX_THREADS = 512,
	CALLS_MAX_MODULES = 256,
	CALLS_NO_MODULE = UINT16_MAX,
	CALLS_PROGRAM_MAX = 16, /* bytes of a program's name */
};

enum calls_unit {
	CALLS_CLOCK_NS,	 /* CLOCK_MONOTONIC, in nanoseconds */
	CALLS_CLOCK_TSC, /* the processor's counter */
};

struct calls_header {
	uint64_t magic;	      /* written last */
	uint64_t birth_ns;    /* CLOCK_MONOTONIC */
	uint64_t birth_ticks; /* the same moment on the clock of the counters */
	uint32_t pid;
	uint32_t clock;				    /* enum calls_unit */
	uint32_t n_modules, n_functions, n_threads; /* used so far */
	uint32_t ended;				    /* 1: the program exited by itself */
	/* Not counted because there was no room. */
	uint64_t lost_functions, lost_threads;
	char program[CALLS_PROGRAM_MAX]; /* as in /proc/PID/comm, at the start */
	/* The inode of its /proc/PID/ns/pid, the namespace in which `pid` is its id; 0: unknown. */
	uint64_t pid_space;
};

/* An executable or shared library that counts. */
struct calls_module {
	uint64_t begin, end; /* its address range */
	uint64_t bias; /* the difference between an address in memory and in the file's symbols */
	uint8_t build_id[20];
	uint8_t build_id_size;
	uint8_t closed; /* it was unloaded; another one may be there now */
	char path[256]; /* truncated if it is longer */
};

struct calls_function {
	uint64_t address; /* written last; 0: not yet */
	uint16_t module;  /* or CALLS_NO_MODULE */
	uint16_t unused[3];
};

struct calls_thread {
	uint32_t busy; /* a thread uses it */
	uint32_t unused[3];
};

struct calls_counter {
	uint64_t count; /* calls that have ended */
	uint64_t ticks; /* time in the function itself, without the functions it called */
};

/* The file, as it is mapped. Most of it is never used. */
struct calls_table {
	_Alignas(4096) struct calls_header header;
	_Alignas(4096) struct calls_module modules[CALLS_MAX_MODULES];
	_Alignas(4096) struct calls_function functions[CALLS_MAX_FUNCTIONS];
	_Alignas(4096)
		uint8_t off[CALLS_MAX_FUNCTIONS]; /* 1: do not count it. Readers may write this */
	_Alignas(4096) struct calls_thread threads[CALLS_MAX_THREADS];
	_Alignas(4096) struct calls_counter counters[CALLS_MAX_THREADS][CALLS_MAX_FUNCTIONS];
};

#endif
