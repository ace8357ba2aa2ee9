/* conform: makes every kind of call that a tracer has to tell, and notes what it did.
 *
 * The notes are in a file that all of its processes share: fixed slots of text, one for each thing
 * that a tracer should have seen, in order for each thread (README of
 * tests/e2e/trace_conformance.py). Calls are made without libc in between, so that between two
 * marks of a thread the log of a tracer must hold exactly what is noted.
 */
#ifndef CONFORM_H
#define CONFORM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#define P(...) ((uint64_t)(uintptr_t)(__VA_ARGS__)) /* commas in literals */
#define I(number) ((uint64_t)(int64_t)(number))

/* Make a call and note it; its result, as the kernel returns it (-ENOENT). */
#define DO(name, ...)                                                                              \
	do_call(#name, SYS_##name, (const uint64_t[6]){__VA_ARGS__},                               \
		sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))
long do_call(const char *name, long nr, const uint64_t args[6], size_t n_args);

/* Make a call without a note. */
long raw_call(long nr, const uint64_t args[6]);

/* What the next call's text is to be, looked at after it. Texts that are not noted may be anything;
 * a call that fails has none if it is only known from success. */
void text_is(const void *text, size_t size);
void path_is(const char *path);
void paths_are(const char *first, const char *second);

/* Note a call that is made otherwise; `ret` as text, "*": whatever it is. */
void note_call(const char *name, const uint64_t args[6], size_t n_args, const char *ret);
void note_signal(int sig, int code, int sender);
void note_async(
	const char *name, int fd, uint64_t address, uint64_t bytes, int64_t offset, long ret);
/* A line of its own: "fork PID CHILD", "exit PID STATUS", "exec PID PATH", "port ...". */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The thread's log is to be looked at from here to the end of the part. */
void part_begin(const char *name);
void part_end(void);

/* Nothing here may fail: says where and ends. */
#define MUST(condition) must((condition) != 0, #condition, __FILE__, __LINE__)
void must(int condition, const char *text, const char *file, int line);

/* Whose part this is, known without a call. */
extern _Thread_local int own_pid, own_tid;

/* A path in the working directory, which is the program's own. */
extern char directory[256], notes_path[256], own_path[256];

/* Parts, by file. */
void parts_of_files(void);
void parts_of_descriptors(void);
void parts_of_transfer(void);
void parts_of_sockets(void);
void parts_of_async(void);
void parts_of_signals(void);
void parts_of_processes(void);
/* What the program does when it was executed by itself. */
void after_exec(const char *how);

#endif
