/* Notes the processes of busy programs in the archive, at most once per hour each, so that a
 * program that runs on one server only can be reported with its process.
 */
#ifndef TRACE_PROFILE_PROCESSES_H
#define TRACE_PROFILE_PROCESSES_H

#include "collect/spool.h"
#include "trace/profile/sampler.h"

#define PROFILE_PROGRAMS_MAX 256

struct profile_processes;

/* `proc`: the path of /proc, which must outlive this. NULL: out of memory. */
struct profile_processes *profile_processes_new(const char *proc);
void profile_processes_free(struct profile_processes *p);

/* `n` samples in a process; `pid` 0 (an idle CPU) is ignored. */
void profile_processes_count(struct profile_processes *p, const char *program, int pid, uint64_t n);

/* An interval is over: note the busy programs. `spool` may be NULL. Returns the number of notes.
 */
unsigned profile_processes_note(struct profile_processes *p, int64_t wall_us, struct spool *spool);

#endif
