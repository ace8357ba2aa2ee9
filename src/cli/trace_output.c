#include "cli/trace_output.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "cli/command.h"
#include "collect/spool.h"
#include "trace/calls/calls.h"
#include <errno.h>
#include <inttypes.h>
#include <limpet/archive.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int trace_output_choose(const char *output, const char *name, const char *what,
	struct trace_output *ret, struct lp_err *err)
{
	size_t len = output ? strlen(output) : 0, suffix = strlen(LP_ARCHIVE_SUFFIX);
	int r = observer_name(name, ret->name, err);

	if (r < 0)
		return r;
	snprintf(ret->file_name, sizeof(ret->file_name), "%s-%s", ret->name, what);
	ret->dir = output ? output : ".";
	ret->path = NULL;
	if (len <= suffix || strcmp(output + len - suffix, LP_ARCHIVE_SUFFIX) != 0)
		return 0;
	ret->path = output;
	if (len >= SPOOL_PATH_MAX)
		return lp_err_set(err, -ENAMETOOLONG, "the name of the file is too long");
	if (access(output, F_OK) == 0)
		return lp_err_set(err, -EEXIST, "%s exists already", output);
	return 0;
}

int trace_send_begin(const struct send_options *send, struct spool_config *spool, int64_t *flush_us,
	struct lp_warn *warn, struct sender **ret, struct lp_err *err)
{
	/* Earlier traces are not sent; they may be about other programs. */
	int r = send_options_begin(send, spool, spool->observer,
		clock_us(CLOCK_REALTIME) - US_PER_SEC, warn, ret, err);

	if (r == 0 && *ret && *flush_us > SEND_FLUSH_US)
		*flush_us = SEND_FLUSH_US;
	return r;
}

DEFINE_CLEANUP(struct ticker *, ticker_free);

int trace_drive(const struct trace_drive *d, struct loop_stats *ret_stats, struct lp_err *err)
{
	_cleanup_(ticker_freep) struct ticker *ticker = NULL;
	const struct trace_output *output = d->output;
	char meta[OBSERVER_META_MAX + 128];
	struct loop_config loop = {.instruments = {d->instrument, d->besides},
		.interval_us = d->interval_us,
		.flush_us = d->flush_us,
		.duration_us = d->duration_us,
		.warn = d->warn,
		.spool = {.dir = output->dir,
			.name = output->file_name,
			.path = output->path,
			.observer = output->name,
			.meta = meta,
			.logs = d->logs,
			.anew = true,
			.private = true}};
	struct sender *sender = NULL;
	size_t len;
	int r = ticker_system(&ticker, err);

	if (r == 0 && d->send)
		r = trace_send_begin(d->send, &loop.spool, &loop.flush_us, d->warn, &sender, err);
	if (r < 0)
		return r;
	observer_meta(true, meta);
	len = strlen(meta);
	snprintf(meta + len, sizeof(meta) - len, "%s", d->meta);
	if (d->begin)
		fprintf(stderr, "%s, into %s; Ctrl-C stops\n", d->begin,
			output->path ? output->path : output->dir);
	r = loop_run(&loop, ticker, ret_stats, err);
	send_options_end(sender, d->send, !d->begin);
	return r;
}

int trace_check_written(const struct loop_stats *stats, struct lp_err *err)
{
	if (!stats->spool.samples_lost)
		return 0;
	return lp_err_set(
		err, -EIO, "%" PRIu64 " samples could not be written", stats->spool.samples_lost);
}

int trace_exit_code(int r)
{
	switch (r) {
	case 0:
		return EXIT_HEALTHY;
	case -EINVAL:
	case -ESRCH:
	case -ENOENT:
	case -ENOTDIR:
	case -EEXIST:
	case -EACCES:
	case -EPERM:
	case -EBUSY:
	case -EOPNOTSUPP:
	case -ENAMETOOLONG:
	case -ELOOP:
	case -EMLINK:
		return EXIT_USAGE;
	default:
		return EXIT_INTERNAL;
	}
}

static void functions_add(void *ctx, const char *name, const int64_t *values)
{
	struct trace_functions *f = ctx;
	bool off = values[CALLS_COLUMN_OFF] > 0;

	f->n_off += off;
	f->calls += values[CALLS_COLUMN_N];
	f->ns += values[CALLS_COLUMN_NS];
	if (array_reserve(&f->items, &f->cap, f->n + 1, sizeof(*f->items)) == 0)
		f->items[f->n++] = (struct trace_function){
			name, values[CALLS_COLUMN_N], values[CALLS_COLUMN_NS], off};
}

static int longest_first(const void *a, const void *b)
{
	const struct trace_function *x = a, *y = b;

	return x->ns != y->ns ? (x->ns < y->ns ? 1 : -1) : strcmp(x->name, y->name);
}

void trace_functions_list(const struct named_rows *rows, struct trace_functions *ret)
{
	*ret = (struct trace_functions){0};
	named_rows_each(rows, functions_add, ret);
	if (ret->n)
		qsort(ret->items, ret->n, sizeof(*ret->items), longest_first);
}

int trace_summary_print(json_t *summary, struct lp_err *err)
{
	int r = summary && json_dumpf(summary, stdout, JSON_COMPACT) == 0 ? 0 : -ENOMEM;

	json_decref(summary);
	if (r < 0)
		return lp_err_sys(err, r, "cannot print the summary");
	putchar('\n');
	return 0;
}
