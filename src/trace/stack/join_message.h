/* Messages that both ends have recorded: the sender's span and the receiver's, by connection, place
 * in its stream and number. Clocks are not needed for that, so that they can be aligned by it.
 */
#ifndef TRACE_JOIN_MESSAGE_H
#define TRACE_JOIN_MESSAGE_H

#include "trace/stack/spans.h"

/* Call `fn` for every request that was seen at both ends; spans need not be sorted. `server` is
 * SPANS_NONE if the server's end was not seen, and `client` if the client's was not. Ambiguous
 * requests are passed as if the other end was not seen. Returns 0, -ENOMEM, or what `fn`
 * returned. */
int join_message_each(
	const struct spans *s, int (*fn)(void *ctx, uint32_t client, uint32_t server), void *ctx);

#endif
