/* A log frame of arbitrary bytes. Records that can be read are written, and must be the same when
 * read again. */
#include "fuzz.h"

#include "archive/log.h"
#include "log_frame.h"
#include <stdlib.h>

static void must(bool good)
{
	if (!good)
		abort();
}

static bool text_same(const struct lp_log_text *a, const struct lp_log_text *b)
{
	return a->len == b->len && (!a->len || !memcmp(a->bytes, b->bytes, a->len));
}

static void must_be_same(const struct lp_log *a, const struct lp_log *b)
{
	must(a->n_fields == b->n_fields && a->n_records == b->n_records);
	must(a->first_record == b->first_record && !strcmp(a->name, b->name));
	for (uint32_t f = 0; f < a->n_fields; f++) {
		must(a->fields[f].type == b->fields[f].type);
		must(!strcmp(a->fields[f].name, b->fields[f].name));
		must(!strcmp(a->fields[f].unit, b->fields[f].unit));
		for (uint32_t i = 0; i < a->n_records; i++) {
			if (a->ints[f])
				must(a->ints[f][i] == b->ints[f][i]);
			else
				must(text_same(&a->texts[f][i], &b->texts[f][i]));
		}
	}
}

static void round_trip(struct log_encoder *e, const struct lp_log *log, struct log_decoder *d,
	enum lp_archive_density density)
{
	struct lp_err err = {0};
	const uint8_t *frame;
	struct lp_log again;
	size_t size;
	struct frame f;
	int r;

	if (log_encode(e, log, density, &frame, &size, &f, &err) < 0)
		return;
	r = log_decode(
		d, &f, payload_read_memory, (void *)(frame + FRAME_HEADER_SIZE), &again, &err);
	must(r == 0);
	must_be_same(log, &again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct chunk_writer w;
	static struct log_decoder *decoders[2];
	static struct log_encoder *encoder;
	struct lp_err err = {0};
	struct lp_log log;
	struct frame f;

	if (!encoder) {
		must(chunk_writer_init(&w) == 0);
		decoders[0] = log_decoder_new();
		decoders[1] = log_decoder_new();
		encoder = log_encoder_new();
	}
	if (!log_frame_build(&w, data, size, size, &f))
		return 0;
	if (log_decode(decoders[0], &f, payload_read_memory, w.frame.text + FRAME_HEADER_SIZE, &log,
		    &err) < 0)
		return 0;
	if (!log.n_fields)
		return 0; /* all have an unknown type */
	round_trip(encoder, &log, decoders[1], size % 4 ? LP_ARCHIVE_LOOSE : LP_ARCHIVE_DENSE);
	return 0;
}
