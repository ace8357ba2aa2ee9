/* Failures that servers and clients meet all day: of names that do not exist, of attributes that
 * are not set, of probing. They accuse no server. docs/causes.md has the list. */
#ifndef EXPLAIN_SEMANTIC_NORMAL_H
#define EXPLAIN_SEMANTIC_NORMAL_H

#include "detect/train/thresholds.h"
#include "explain/semantic_traces.h"

/* Is it in the list that limpet was built with? `call`, `file`: enum trace_call, trace_file. */
bool normal_builtin(int error, unsigned call, unsigned file);

/* That, or trained (may be NULL) for this call in the role of its process? */
bool normal_failure(
	const struct traces *t, const struct thresholds *trained, const struct traced_failure *f);

/* Is it trained (may be NULL) that this call fails so in servers, or in clients? */
bool normal_pair(const struct thresholds *trained, bool serves, uint16_t nr, int error);

/* Is it about a connection whose other end is gone? */
bool normal_is_lost_connection(int error);

/* Does it mean that something ran out or broke: space, descriptors, memory, the disk? */
bool normal_is_resource(int error);

/* Does this call (of this machine's table, or with `compat` of the 32-bit one) fail so only when
 * something ran out or broke for good? `file`: enum trace_file, TRACE_FILE_NONE if it is not known.
 * Calls for which the error is an answer (access, mincore, inotify_add_watch) do not count. */
bool normal_is_exhaustion(int error, uint16_t nr, bool compat, unsigned file);

/* An error that a client may get in place of the server's. */
bool normal_is_translation(int error);

/* "server" or "client", as in the file of thresholds. */
const char *normal_role(bool serves);

#endif
