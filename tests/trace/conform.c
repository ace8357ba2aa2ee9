#include "conform.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SLOT 1024
#define SLOTS 16384

struct notes {
	atomic_uint n;
	char pad[SLOT - sizeof(atomic_uint)];
	char slots[SLOTS][SLOT];
};

char directory[256], notes_path[256], own_path[256];
_Thread_local int own_pid, own_tid;
static struct notes *notes;

struct text {
	const void *first, *second;
	size_t first_size, second_size;
};
static _Thread_local struct text next_text;
static _Thread_local const char *part;

void must(int condition, const char *text, const char *file, int line)
{
	if (condition)
		return;
	fprintf(stderr, "conform: %s:%d: %s: %s\n", file, line, text, strerror(errno));
	exit(1);
}

static char *slot(void)
{
	unsigned i = atomic_fetch_add(&notes->n, 1);

	if (i >= SLOTS)
		_exit(99);
	return notes->slots[i];
}

void note(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(slot(), SLOT, format, ap);
	va_end(ap);
}

void text_is(const void *text, size_t size)
{
	next_text = (struct text){.first = text, .first_size = size};
}

void path_is(const char *path)
{
	text_is(path, strlen(path));
}

void paths_are(const char *first, const char *second)
{
	next_text = (struct text){first, second, strlen(first) + 1, strlen(second)};
}

static int put_hex(char *to, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sprintf(to + 2 * i, "%02x", ((const unsigned char *)bytes)[i]);
	return (int)(2 * n);
}

/* "*": any. Long ones by their length. */
static void format_text(char *to, struct text t)
{
	if (!t.first) {
		memcpy(to, "*", 2);
	} else if (t.first_size + t.second_size > 200) {
		sprintf(to, "#%zu", t.first_size + t.second_size);
	} else {
		*to++ = '=';
		to += put_hex(to, t.first, t.first_size);
		to += put_hex(to, t.second, t.second_size);
		*to = 0;
	}
}

void note_call(const char *name, const uint64_t args[6], size_t n_args, const char *ret)
{
	char *line = slot(), text[512];
	int n = snprintf(line, SLOT, "call %d %d %s %s", own_pid, own_tid, name, ret);

	format_text(text, next_text);
	next_text = (struct text){0};
	n += snprintf(line + n, SLOT - (size_t)n, " %s", text);
	for (size_t i = 0; i < n_args; i++)
		n += snprintf(line + n, SLOT - (size_t)n, " %llu", (unsigned long long)args[i]);
}

void note_signal(int sig, int code, int sender)
{
	note("signal %d %d %d %d %d", own_pid, own_tid, sig, code, sender);
}

void note_async(
	const char *name, int fd, uint64_t address, uint64_t bytes, int64_t offset, long ret)
{
	note("async %d %d %s %ld * %d %llu %llu %lld", own_pid, own_tid, name, ret, fd,
		(unsigned long long)address, (unsigned long long)bytes, (long long)offset);
}

long raw_call(long nr, const uint64_t args[6])
{
	long ret = syscall(nr, args[0], args[1], args[2], args[3], args[4], args[5]);

	return ret == -1 ? -errno : ret;
}

long do_call(const char *name, long nr, const uint64_t args[6], size_t n_args)
{
	long ret = raw_call(nr, args);
	char text[32];

	snprintf(text, sizeof(text), "%ld", ret);
	note_call(name, args, n_args, text);
	return ret;
}

static void mark(const char *which)
{
	char path[128];

	snprintf(path, sizeof(path), "/limpet-%s/%s", which, part);
	note("%s %d %d %s", which, own_pid, own_tid, part);
	syscall(SYS_access, path, 0);
}

void part_begin(const char *name)
{
	part = name;
	own_pid = getpid();
	own_tid = gettid();
	mark("begin");
}

void part_end(void)
{
	mark("end");
}

static void map_notes(void)
{
	int fd = open(notes_path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);

	MUST(fd >= 0);
	MUST(ftruncate(fd, sizeof(*notes)) == 0);
	notes = mmap(NULL, sizeof(*notes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	MUST(notes != MAP_FAILED);
	close(fd);
}

static void run_parts(void)
{
	parts_of_files();
	parts_of_descriptors();
	parts_of_transfer();
	parts_of_sockets();
	parts_of_async();
	parts_of_signals();
	parts_of_processes();
}

/* conform NOTES [wait]: with "wait" it begins when something comes on its standard input, so that a
 * tracer can attach. conform NOTES exec HOW: it was executed by itself. */
int main(int argc, char **argv)
{
	char byte;

	MUST(argc >= 2);
	snprintf(notes_path, sizeof(notes_path), "%s", argv[1]);
	MUST(readlink("/proc/self/exe", own_path, sizeof(own_path) - 1) > 0);
	map_notes();
	if (argc == 4 && !strcmp(argv[2], "exec")) {
		after_exec(argv[3]);
		return 0;
	}
	snprintf(directory, sizeof(directory), "%.240s.d", notes_path);
	signal(SIGPIPE, SIG_IGN);
	MUST(mkdir(directory, 0755) == 0 && chdir(directory) == 0);
	if (argc == 3 && !strcmp(argv[2], "wait"))
		MUST(read(0, &byte, 1) == 1);
	note("main %d", getpid());
	run_parts();
	note("exit %d %d", getpid(), 7 << 8);
	return 7;
}
