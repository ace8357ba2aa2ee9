/* Processes that recorders noted (model/process_note.h), for suspects that run a program that their
 * peers do not. */
#ifndef EXPLAIN_PROCESSES_H
#define EXPLAIN_PROCESSES_H

#include <limpet/dataset.h>
#include <limpet/verdict.h>

/* Notes in the order of arrival. Zero-initialise it. */
struct noted_processes {
	struct lp_process *items;
	size_t n, cap;
	size_t oldest; /* the oldest note, if the limit was reached */
};

/* Add a remark of an observer's archive, if it is a new note about a process. 0 or -ENOMEM. */
int noted_processes_add(
	struct noted_processes *p, const char *observer, int64_t wall_us, const char *text);
void noted_processes_release(struct noted_processes *p);

/* Copy the notes to the verdict, if some of its findings are about functions. 0 or -ENOMEM. */
int noted_processes_give(struct lp_verdict *v, const struct noted_processes *p);

/* Copy the notes of all archives to the verdict, if some of its findings are about functions.
 * Damage is skipped: the reader of the samples reports it. 0 or -ENOMEM. */
int noted_processes_read(struct lp_verdict *v, struct lp_dataset *ds, struct lp_err *err);

/* The last note about a program (its name has `len` bytes) on an observer up to a time, else the
 * first one after it. NULL: none. */
const struct lp_process *noted_process_find(const struct lp_verdict *v, const char *observer,
	const char *program, size_t len, int64_t until_us);

#endif
