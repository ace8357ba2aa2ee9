#include "explain/processes.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "import/dataset.h"
#include "model/process_note.h"
#include <errno.h>
#include <limpet/archive.h>
#include <stdlib.h>
#include <string.h>

/* With more processes, new ones replace the oldest. */
#define PROCESSES_MAX ((size_t)10000)

static bool is_same(const struct lp_process *a, const struct lp_process *b)
{
	return a->pid == b->pid && a->uid == b->uid && !strcmp(a->observer, b->observer) &&
		!strcmp(a->program, b->program) && !strcmp(a->command, b->command);
}

static void process_release(struct lp_process *p)
{
	free(p->observer);
	free(p->program);
	free(p->command);
}

static int process_copy(const struct lp_process *from, struct lp_process *ret)
{
	struct lp_process p = *from;

	p.observer = strdup(from->observer);
	p.program = strdup(from->program);
	p.command = strdup(from->command);
	if (!p.observer || !p.program || !p.command) {
		process_release(&p);
		return -ENOMEM;
	}
	*ret = p;
	return 0;
}

void noted_processes_release(struct noted_processes *p)
{
	for (size_t i = 0; i < p->n; i++)
		process_release(&p->items[i]);
	free(p->items);
	*p = (struct noted_processes){0};
}

int noted_processes_add(
	struct noted_processes *p, const char *observer, int64_t wall_us, const char *text)
{
	struct process_note note;
	struct lp_process it, made;

	if (!process_note_read(text, &note))
		return 0;
	it = (struct lp_process){.observer = (char *)(uintptr_t)observer,
		.program = note.program,
		.command = note.command,
		.pid = note.pid,
		.uid = note.uid,
		.wall_us = wall_us};
	/* The first note of a process is valid for all later times. */
	for (size_t i = p->n; i > 0; i--) {
		if (is_same(&p->items[i - 1], &it) && p->items[i - 1].wall_us <= wall_us)
			return 0;
	}
	if (p->n < PROCESSES_MAX &&
		array_reserve(&p->items, &p->cap, p->n + 1, sizeof(*p->items)) < 0)
		return -ENOMEM;
	if (process_copy(&it, &made) < 0)
		return -ENOMEM;
	if (p->n < PROCESSES_MAX) {
		p->items[p->n++] = made;
		return 0;
	}
	process_release(&p->items[p->oldest]);
	p->items[p->oldest] = made;
	p->oldest = (p->oldest + 1) % PROCESSES_MAX;
	return 0;
}

/* The notes of one archive. */
struct gathering {
	struct noted_processes found;
	const char *observer;
};

static int on_event(void *ctx, int64_t wall_us, const char *text)
{
	struct gathering *g = ctx;

	return noted_processes_add(&g->found, g->observer, wall_us, text);
}

static int on_archive(void *ctx, struct lp_source *source, struct lp_err *err)
{
	struct gathering *g = ctx;

	g->observer = lp_archive_meta_get(source, "observer");
	return g->observer && g->observer[0] ? lp_archive_events(source, on_event, g, err) : 0;
}

int noted_processes_give(struct lp_verdict *v, const struct noted_processes *p)
{
	size_t cap = v->n_processes;

	if (!v->n_dimensions || !p->n)
		return 0;
	if (array_reserve(&v->processes, &cap, cap + p->n, sizeof(*v->processes)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < p->n; i++) {
		if (process_copy(&p->items[i], &v->processes[v->n_processes]) < 0)
			return -ENOMEM;
		v->n_processes++;
	}
	return 0;
}

int noted_processes_read(struct lp_verdict *v, struct lp_dataset *ds, struct lp_err *err)
{
	struct gathering g = {0};
	struct lp_err here = {0};
	int r = v->n_dimensions ? dataset_archives(ds, NULL, NULL, on_archive, &g, &here) : 0;

	if (r != -ENOMEM)
		r = noted_processes_give(v, &g.found);
	noted_processes_release(&g.found);
	return r == -ENOMEM ? lp_err_sys(err, r, "cannot read the notes about processes") : 0;
}

const struct lp_process *noted_process_find(const struct lp_verdict *v, const char *observer,
	const char *program, size_t len, int64_t until_us)
{
	const struct lp_process *before = NULL, *after = NULL;

	for (uint32_t i = 0; i < v->n_processes; i++) {
		const struct lp_process *p = &v->processes[i];

		if (strlen(p->program) != len || strncmp(p->program, program, len) != 0 ||
			strcmp(p->observer, observer) != 0)
			continue;
		if (p->wall_us <= until_us && (!before || p->wall_us >= before->wall_us))
			before = p;
		if (p->wall_us > until_us && (!after || p->wall_us < after->wall_us))
			after = p;
	}
	return before ? before : after;
}
