/* Logs of system calls and descriptors with any content, through all code that reads them: tables
 * of descriptors, printing, and the diagnosis of errors, crashes and hangs.
 *
 * The input is a sequence of log frames (log_frame.h), each after a u16 length; bit 7 of a frame's
 * first byte chooses the observer, the server or the client.
 */
#include "fuzz.h"

#include "archive/log.h"
#include "log_frame.h"
#include "trace_audience.h"

/* Deliver all valid frames of the input. */
static void input_read(
	const uint8_t *data, size_t size, struct audience *a, const struct trace_log_reader *to)
{
	static struct chunk_writer frame_writer;
	static struct log_decoder *decoder;
	struct cursor in = {.p = data, .end = data + size};
	struct lp_err err = {0};

	if (!decoder) {
		must(chunk_writer_init(&frame_writer) == 0);
		decoder = log_decoder_new();
	}
	while (in.end - in.p >= 3) {
		size_t len = get_u16(cursor_bytes(&in, 2)), left = (size_t)(in.end - in.p);
		const uint8_t *bytes = cursor_bytes(&in, len < left ? len : left);
		struct frame f;
		struct lp_log log;

		if (!len || !log_frame_build(&frame_writer, bytes, len < left ? len : left, 0, &f))
			continue;
		a->host = bytes[0] >> 7;
		if (log_decode(decoder, &f, payload_read_memory,
			    frame_writer.frame.text + FRAME_HEADER_SIZE, &log, &err) == 0)
			trace_log_take(&log, to, &err);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct audience a;
	struct hosts hosts = {0};
	struct semantic_options options = {0};
	struct trace_log_reader events = {.event = take_event, .ctx = &a};
	struct trace_log_reader changes = {.descriptor = take_descriptor, .ctx = &a};

	audience_begin(&a, &hosts, &options, size % 2);
	input_read(data, size, &a, &events);
	input_read(data, size, &a, &changes);
	audience_end(&a, &hosts);
	return 0;
}
