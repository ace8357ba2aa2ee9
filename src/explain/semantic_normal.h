/* Failures that servers and clients have all the time: names that do not exist, attributes that are
 * not set, probes. They accuse no server. docs/causes.md has the list. */
#ifndef EXPLAIN_SEMANTIC_NORMAL_H
#define EXPLAIN_SEMANTIC_NORMAL_H

#include "detect/train/thresholds.h"
#include "explain/semantic_traces.h"

/* Is it in the built-in list? `call`, `file`: enum trace_call, trace_file. */
bool normal_builtin(int error, unsigned call, unsigned file);

/* The same, or is it in `trained` (may be NULL) for this call and the role of its process? */
bool normal_failure(
	const struct traces *t, const struct thresholds *trained, const struct traced_failure *f);

/* Does `trained` (may be NULL) say that this call fails with this error in servers, or in
 * clients? */
bool normal_pair(const struct thresholds *trained, bool serves, uint16_t nr, int error);

/* Does it mean that the other end of a connection is gone? */
bool normal_is_lost_connection(int error);

/* Does it mean that something ran out or broke: space, descriptors, memory, the disk? */
bool normal_is_resource(int error);

/* Does this call (of this machine's table, or with `compat` of the 32-bit one) fail with this error
 * only if something ran out or broke permanently? `file`: enum trace_file, TRACE_FILE_NONE if
 * unknown. Calls for which the error is an answer (access, mincore, inotify_add_watch) do not
 * count. */
bool normal_is_exhaustion(int error, uint16_t nr, bool compat, unsigned file);

/* Is it an error that a client may get instead of the server's error? */
bool normal_is_translation(int error);

/* "server" or "client", as in the file of thresholds. */
const char *normal_role(bool serves);

#endif
