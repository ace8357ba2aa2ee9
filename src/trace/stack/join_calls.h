/* Calls of programs and daemons for files, as two joins look for them: the one that a thread is in,
 * and the writes of a file.
 */
#ifndef TRACE_JOIN_CALLS_H
#define TRACE_JOIN_CALLS_H

#include "trace/stack/graph.h"
#include "trace/stack/join_index.h"

/* Zero-initialise it. */
struct join_calls {
	struct join_index by_thread, writes; /* writes: by join_file_key() */
	struct join_index later;	     /* asynchronous ones: by join_later_key() */
};

void join_calls_release(struct join_calls *c);

/* All calls of these layers (1 << place in layers[]). 0 or -ENOMEM. */
int join_calls_fill(struct join_calls *c, const struct spans *s, uint32_t layers);

/* The innermost call that a thread of the observer is in; SPANS_NONE: it is in none, or it requests
 * several asynchronous calls at once. */
uint32_t join_call_of(const struct join_calls *c, uint32_t observer, int32_t tid, int64_t ns);

uint64_t join_file_key(uint32_t observer, uint64_t device, uint64_t inode);

/* The asynchronous call under way whose range a request lies in; SPANS_NONE: there is none, or
 * several. */
uint32_t join_later_of(const struct join_calls *c, const struct spans *s, uint32_t request);
uint64_t join_later_key(const struct span *s, uint32_t observer);

/* Does a span read or write? */
bool join_is_data(const struct span *s);

/* server -> storage: join the calls on files with the requests that their daemon works on. The file
 * of a call is that of a request; `asks_for` compares the rest. If two requests fit, neither is
 * joined. `striped`: only spans of OrangeFS; else all others. 0 or -ENOMEM. */
int join_files(struct graph *g, bool striped,
	bool (*asks_for)(const struct span *request, const struct span *call));

#endif
