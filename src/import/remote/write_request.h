/* What Prometheus, vmagent and others push: the message WriteRequest of remote write 1.0, in the
 * wire format of protocol buffers. Only what is used of it is read: series, their labels and
 * samples.
 */
#ifndef IMPORT_REMOTE_WRITE_REQUEST_H
#define IMPORT_REMOTE_WRITE_REQUEST_H

#include "import/remote/gather.h"

#define WRITE_LABELS_MAX 128
#define WRITE_SAMPLES_MAX 100000 /* of a series in one message */

/* Non-zero stops, and is returned. The series is valid during the call. */
typedef int (*write_series_fn)(void *ctx, const struct gather_input *in, struct lp_err *err);

/* Read a message and give each series to `fn`. -EBADMSG: it is none. */
int write_request_parse(
	const void *data, size_t size, write_series_fn fn, void *ctx, struct lp_err *err);

#endif
