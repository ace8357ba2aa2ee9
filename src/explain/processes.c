#include "explain/processes.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "import/dataset.h"
#include "model/process_note.h"
#include <errno.h>
#include <limpet/archive.h>
#include <stdlib.h>
#include <string.h>

/* More than can be told apart: whoever writes so many is up to something. */
#define PROCESSES_MAX 100000

struct gathering {
	struct lp_verdict *v;
	size_t cap;
	const char *observer;
};

static int on_event(void *ctx, int64_t wall_us, const char *text)
{
	struct gathering *g = ctx;
	struct lp_verdict *v = g->v;
	struct process_note note;
	struct lp_process p;

	if (v->n_processes >= PROCESSES_MAX || !process_note_read(text, &note))
		return 0;
	if (array_reserve(
		    &v->processes, &g->cap, (size_t)v->n_processes + 1, sizeof(*v->processes)) < 0)
		return -ENOMEM;
	p = (struct lp_process){.observer = strdup(g->observer),
		.program = strdup(note.program),
		.command = strdup(note.command),
		.pid = note.pid,
		.uid = note.uid,
		.wall_us = wall_us};
	v->processes[v->n_processes++] = p;
	return p.observer && p.program && p.command ? 0 : -ENOMEM;
}

static int on_archive(void *ctx, struct lp_source *source, struct lp_err *err)
{
	struct gathering *g = ctx;

	g->observer = lp_archive_meta_get(source, "observer");
	return g->observer && g->observer[0] ? lp_archive_events(source, on_event, g, err) : 0;
}

int noted_processes_read(struct lp_verdict *v, struct lp_dataset *ds, struct lp_err *err)
{
	struct gathering g = {.v = v};
	struct lp_err here = {0};
	int r = v->n_dimensions ? dataset_archives(ds, NULL, NULL, on_archive, &g, &here) : 0;

	return r == -ENOMEM ? lp_err_sys(err, r, "cannot read what runs where") : 0;
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
