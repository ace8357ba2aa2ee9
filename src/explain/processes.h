/* Processes that recorders noted (model/process_note.h), for whoever is said to run a program that
 * nobody else does. */
#ifndef EXPLAIN_PROCESSES_H
#define EXPLAIN_PROCESSES_H

#include <limpet/dataset.h>
#include <limpet/verdict.h>

/* Give the verdict the notes of all archives, if some of its findings are about functions. Damage
 * is passed over: whoever reads the samples tells of it. 0 or -ENOMEM. */
int noted_processes_read(struct lp_verdict *v, struct lp_dataset *ds, struct lp_err *err);

/* The last note of a program (its name is `len` bytes long) on an observer until a time, or the
 * first one after it. NULL: there is none. */
const struct lp_process *noted_process_find(const struct lp_verdict *v, const char *observer,
	const char *program, size_t len, int64_t until_us);

#endif
