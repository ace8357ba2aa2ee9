/* The names of descriptors, from the descriptor log. A reader of the log of system calls applies
 * the changes in order, and gets the name that a descriptor had at that moment.
 */
#ifndef MODEL_FD_NAMES_H
#define MODEL_FD_NAMES_H

#include "model/trace_event.h"

struct fd_names;
struct fd_names *fd_names_new(void); /* NULL: out of memory */
void fd_names_free(struct fd_names *n);

/* Apply a change. 0 or -ENOMEM. Numbers that no kernel assigns are ignored. */
int fd_names_apply(struct fd_names *n, const struct trace_descriptor *d);

/* The name of a descriptor; NULL: it is not open according to the log. Valid until the names are
 * freed. */
const char *fd_names_get(const struct fd_names *n, int32_t pid, int fd);
/* The enum trace_file of a descriptor; TRACE_FILE_NONE if it is not open. */
unsigned fd_names_file(const struct fd_names *n, int32_t pid, int fd);

/* Forget the table of a process that ended. */
void fd_names_forget(struct fd_names *n, int32_t pid);

#endif
