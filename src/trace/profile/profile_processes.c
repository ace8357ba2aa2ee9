#include "trace/profile/profile_processes.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/time.h"
#include "model/process_note.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A program is busy if it has this share of an interval's samples. */
#define BUSY_SHARE 0.02
#define BUSY_LEAST 3
/* Per interval; more wait for the next one. Remarks about clocks need space, too. */
#define NOTES_MAX 4
#define AGAIN_US (3600 * US_PER_SEC)

struct busy_program {
	char name[SAMPLER_COMM_MAX];
	int pid;	  /* the process with most of its samples */
	uint64_t most, n; /* in this interval: samples of that process at one address, and of all
			   * processes */
	int64_t noted_us; /* when it was noted; 0: never */
};

struct profile_processes {
	const char *proc;
	struct busy_program programs[PROFILE_PROGRAMS_MAX];
	size_t n;
	uint64_t total; /* this interval */
};

struct profile_processes *profile_processes_new(const char *proc)
{
	struct profile_processes *p = calloc(1, sizeof(*p));

	if (p)
		p->proc = proc;
	return p;
}

void profile_processes_free(struct profile_processes *p)
{
	free(p);
}

/* The place of a program, which may replace one that was noted long ago or never. NULL: none. */
static struct busy_program *program_get(struct profile_processes *p, const char *name)
{
	struct busy_program *oldest = NULL;

	for (size_t i = 0; i < p->n; i++) {
		struct busy_program *b = &p->programs[i];

		if (!strcmp(b->name, name))
			return b;
		if (!b->n && (!oldest || b->noted_us < oldest->noted_us))
			oldest = b;
	}
	if (p->n < PROFILE_PROGRAMS_MAX)
		oldest = &p->programs[p->n++];
	if (!oldest)
		return NULL;
	*oldest = (struct busy_program){0};
	snprintf(oldest->name, sizeof(oldest->name), "%s", name);
	return oldest;
}

void profile_processes_count(struct profile_processes *p, const char *program, int pid, uint64_t n)
{
	struct busy_program *b = pid > 0 && n ? program_get(p, program) : NULL;

	if (!b)
		return;
	p->total += n;
	b->n += n;
	if (n > b->most) {
		b->most = n;
		b->pid = pid;
	}
}

/* Read its data from /proc. A process that has ended is known by its number only. False: it is a
 * thread of the kernel, which nobody started. */
static bool process_look(
	const struct profile_processes *p, const struct busy_program *b, struct process_note *ret)
{
	char path[PATH_MAX], text[4 * PROCESS_COMMAND_MAX];
	_cleanup_close_ int fd = -1;
	struct stat st;
	ssize_t size;

	*ret = (struct process_note){.pid = b->pid, .uid = -1};
	snprintf(ret->program, sizeof(ret->program), "%s", b->name);
	snprintf(path, sizeof(path), "%s/%d", p->proc, b->pid);
	if (stat(path, &st) == 0)
		ret->uid = st.st_uid;
	snprintf(path, sizeof(path), "%s/%d/cmdline", p->proc, b->pid);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	size = fd < 0 ? 0 : read(fd, text, sizeof(text));
	if (size > 0)
		process_note_command(text, (size_t)size, ret->command);
	return size > 0 || ret->uid < 0;
}

static bool is_due(const struct profile_processes *p, const struct busy_program *b, int64_t wall_us)
{
	if (b->n < BUSY_LEAST || (double)b->n < BUSY_SHARE * (double)p->total)
		return false;
	/* If the clock was set back, note it again. */
	return !b->noted_us || wall_us >= b->noted_us + AGAIN_US || wall_us < b->noted_us;
}

static struct busy_program *busiest_due(struct profile_processes *p, int64_t wall_us)
{
	struct busy_program *busiest = NULL;

	for (size_t i = 0; i < p->n; i++) {
		struct busy_program *b = &p->programs[i];

		if (is_due(p, b, wall_us) && (!busiest || b->n > busiest->n))
			busiest = b;
	}
	return busiest;
}

unsigned profile_processes_note(struct profile_processes *p, int64_t wall_us, struct spool *spool)
{
	struct busy_program *b;
	unsigned noted = 0;

	while (noted < NOTES_MAX && (b = busiest_due(p, wall_us))) {
		char line[PROCESS_NOTE_MAX];
		struct process_note note;

		b->noted_us = wall_us;
		if (!process_look(p, b, &note))
			continue;
		process_note_write(&note, line);
		if (spool)
			spool_event(spool, wall_us, line);
		noted++;
	}
	for (size_t i = 0; i < p->n; i++)
		p->programs[i].n = p->programs[i].most = 0;
	p->total = 0;
	return noted;
}
