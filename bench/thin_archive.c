/* thin_archive IN OUT KIND...: copy an archive, only the components of these kinds and no logs.
 *
 * Traces are mostly histograms and logs; for what bench/syscalls_accuracy.py needs, service times,
 * `thin_archive IN OUT sys peer` keeps a tenth of them. */
#include "base/cleanup.h"
#include "base/strbuf.h"
#include <limpet/archive.h>
#include <stdio.h>
#include <string.h>

DEFINE_CLEANUP(struct lp_source *, lp_source_close);
DEFINE_CLEANUP(struct lp_archive_writer *, lp_archive_abandon);

/* Is the component of one of the kinds? `ctx` is the end of the command line. */
static bool component_wanted(void *ctx, const struct lp_catalogue *c, uint32_t id)
{
	const char *kind = c->schemas[c->components[id].schema].kind;

	for (char **wanted = ctx; *wanted; wanted++) {
		if (!strcmp(*wanted, kind))
			return true;
	}
	return false;
}

static int copy_batches(struct lp_source *from, struct lp_archive_writer *to, struct lp_err *err)
{
	struct lp_batch *batch;
	int r = lp_source_next(from, &batch, err);

	while (r > 0) {
		r = lp_archive_write(to, from->catalogue, batch, LP_ARCHIVE_DENSE, err);
		if (r == 0)
			r = lp_source_next(from, &batch, err);
	}
	return r;
}

static int copy(const char *in, const char *out, char **kinds, struct lp_err *err)
{
	struct lp_select select = {.component = component_wanted, .ctx = kinds};
	_cleanup_(lp_source_closep) struct lp_source *from = NULL;
	_cleanup_(lp_archive_abandonp) struct lp_archive_writer *to = NULL;
	_cleanup_(strbuf_release) struct strbuf extra = {0};
	struct lp_archive_meta meta = {0};
	const char *addresses;
	int r = lp_archive_open(in, &select, NULL, &from, err);

	if (r < 0)
		return r;
	addresses = lp_archive_meta_get(from, "addresses");
	if (addresses)
		strbuf_printf(&extra, "addresses=%s\n", addresses);
	meta.observer = lp_archive_meta_get(from, "observer");
	meta.observer = meta.observer ? meta.observer : "";
	meta.interval_us = from->interval_us;
	meta.extra = extra.text;
	r = lp_archive_create(out, &meta, &to, err);
	if (r == 0)
		r = copy_batches(from, to, err);
	return r < 0 ? r : lp_archive_close(TAKE_PTR(to), err);
}

int main(int argc, char **argv)
{
	struct lp_err err = {0};

	if (argc < 4) {
		fprintf(stderr, "usage: thin_archive IN OUT KIND...\n");
		return 2;
	}
	if (copy(argv[1], argv[2], argv + 3, &err) < 0) {
		fprintf(stderr, "thin_archive: %s\n", err.text);
		return 2;
	}
	return 0;
}
