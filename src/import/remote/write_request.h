/* The message WriteRequest of remote write 1.0, which Prometheus, vmagent and others send to
 * limpet, and limpet sends to them. It has the wire format of protocol buffers. limpet reads and
 * writes only series, their labels and samples.
 */
#ifndef IMPORT_REMOTE_WRITE_REQUEST_H
#define IMPORT_REMOTE_WRITE_REQUEST_H

#include "import/remote/gather.h"

#define WRITE_LABELS_MAX 128
#define WRITE_SAMPLES_MAX 100000 /* of a series in one message */

/* A non-zero result stops and is returned. The series is valid during the call. */
typedef int (*write_series_fn)(void *ctx, const struct gather_input *in, struct lp_err *err);

/* Read a message and call `fn` for each series. -EBADMSG: it is not such a message. */
int write_request_parse(
	const void *data, size_t size, write_series_fn fn, void *ctx, struct lp_err *err);

/* The bits of the value that ends a series: Prometheus does not show the series any longer. */
#define WRITE_STALE UINT64_C(0x7ff0000000000002)

struct write_sample {
	int64_t ms; /* since 1970 UTC */
	double value;
};

/* Append a label to the labels of a series. Labels must come in the order of their names, including
 * "__name__". Labels without a value are left out. */
void write_label_add(struct strbuf *labels, const char *name, const char *value);

/* Append a series to a message: its labels as write_label_add() made them, and samples in the order
 * of time. */
void write_series_add(struct strbuf *message, const void *labels, size_t labels_len,
	const struct write_sample *samples, size_t n);

#endif
