/* Logs of system calls and descriptors of any content, through everything that reads them: the
 * tables of descriptors, and the diagnosis of errors, crashes and hangs.
 *
 * The input is a sequence of log frames (log_frame.h), each behind a u16 length; bit 7 of a frame's
 * first byte says whose it is, the server's or the client's.
 */
#include "fuzz.h"

#include "archive/log.h"
#include "archive/trace_log.h"
#include "explain/semantic.h"
#include "log_frame.h"
#include "trace/descriptors.h"
#include <limpet/dataset.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FILES 2

static char paths[FILES][64];

static void must(bool good)
{
	if (!good)
		abort();
}

/* What a client sees of the server, so that there is one. */
static void add_peer(struct lp_archive_writer *w, struct lp_err *err)
{
	static const struct lp_column columns[] = {{"requests", "messages", LP_COUNTER, 64},
		{"responses", "messages", LP_COUNTER, 64}, {"read_n", "reads", LP_COUNTER, 64},
		{"read_ns", "ns", LP_COUNTER, 64}, {"waiting_us", "us", LP_GAUGE, 0}};
	static const struct lp_schema schema = {"peer", columns, 5};
	struct lp_catalogue *c = lp_catalogue_new();
	struct lp_batch *b = lp_batch_new(40);
	struct lp_batch_kind *k;
	uint32_t id, row;

	lp_catalogue_add_schema(c, &schema, &id, err);
	lp_catalogue_add_component(c, id, "c1", "10.0.0.1:24007", "", &id, err);
	lp_batch_kind_get(b, 0, 5, NULL, &k);
	lp_batch_add_component(b, k, id, &row);
	for (int64_t s = 0; s < 40; s++) {
		lp_batch_add_sample(b, s * 1000000, s * 1000000);
		k->state[s] = LP_PRESENT;
		k->columns[0][s] = s;
		k->columns[4][s] = s * 1000000;
	}
	lp_archive_write(w, c, b, LP_ARCHIVE_DENSE, err);
	lp_batch_free(b);
	lp_catalogue_free(c);
}

static struct lp_archive_writer *create(unsigned file)
{
	static const struct lp_archive_meta metas[FILES] = {
		{.observer = "s1", .interval_us = 1000000, .extra = "addresses=10.0.0.1\n"},
		{.observer = "c1", .interval_us = 1000000, .extra = "addresses=10.0.0.2\n"}};
	struct lp_archive_writer *w;
	struct lp_err err = {0};

	unlink(paths[file]);
	must(lp_archive_create(paths[file], &metas[file], &w, &err) == 0);
	if (file == 1)
		add_peer(w, &err);
	return w;
}

/* Put the frames of the input into the files, as far as they make sense. */
static void files_make(const uint8_t *data, size_t size)
{
	static struct chunk_writer frame_writer;
	static struct log_decoder *decoder;
	struct lp_archive_writer *w[FILES] = {create(0), create(1)};
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
		if (log_decode(decoder, &f, payload_read_memory,
			    frame_writer.frame.text + FRAME_HEADER_SIZE, &log, &err) == 0 &&
			log.n_fields)
			lp_archive_write_log(w[bytes[0] >> 7], &log, &err);
	}
	for (unsigned i = 0; i < FILES; i++)
		must(lp_archive_close(w[i], &err) == 0);
}

/* Everything that asks something of an event. */
static int take_event(void *ctx, uint64_t record, const struct trace_event *e)
{
	struct descriptors *d = ctx;
	struct descriptor what;
	struct lp_err err = {0};
	int fd = trace_event_fd(e);

	(void)record;
	must(descriptors_apply(d, e, &err) == 0 || err.text[0]);
	if (descriptors_get(d, e->pid, fd, &what))
		must(what.name != NULL);
	must(descriptors_comm(d, e->pid) != NULL);
	must(trace_event_call(e) < TRACE_CALLS);
	must(trace_event_errno(e) >= 0 && trace_event_bytes(e) >= 0);
	return 0;
}

static int take_descriptor(void *ctx, uint64_t record, const struct trace_descriptor *d)
{
	(void)ctx;
	(void)record;
	must(strlen(d->name) <= TRACE_TEXT_MAX);
	must(*trace_change_name(d->change) && *trace_file_name(d->file));
	return 0;
}

/* A change that is told must be such as can be logged. */
static int take_change(void *ctx, const struct trace_descriptor *d)
{
	return take_descriptor(ctx, 0, d);
}

static void read_file(const char *path)
{
	struct descriptors *d = descriptors_new("/nonexistent", take_change, NULL);
	struct trace_log_reader to = {take_event, take_descriptor, d};
	struct lp_source *source = NULL;
	struct lp_err err = {0};

	must(d && lp_archive_open(path, NULL, NULL, &source, &err) == 0);
	trace_log_read(source, &to, &err);
	lp_source_close(source);
	descriptors_free(d);
}

static void diagnose(void)
{
	const char *const names[FILES] = {paths[0], paths[1]};
	struct semantic_options options = {0};
	struct semantic found = {0};
	struct hosts hosts = {0};
	struct lp_dataset *ds = NULL;
	struct lp_err err = {0};

	must(lp_dataset_open(names, FILES, NULL, NULL, NULL, &ds, &err) == 0);
	must(hosts_add(&hosts, "s1", "10.0.0.1") == 0 && hosts_add(&hosts, "c1", "10.0.0.2") == 0);
	semantic_diagnose(ds, &hosts, &options, &found, &err);
	semantic_release(&found);
	hosts_release(&hosts);
	lp_dataset_close(ds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!paths[0][0]) {
		for (unsigned i = 0; i < FILES; i++)
			snprintf(paths[i], sizeof(paths[i]), "/dev/shm/fuzz-trace-%d-%u.lpa",
				(int)getpid(), i);
	}
	files_make(data, size);
	for (unsigned i = 0; i < FILES; i++)
		read_file(paths[i]);
	diagnose();
	for (unsigned i = 0; i < FILES; i++)
		unlink(paths[i]);
	return 0;
}
