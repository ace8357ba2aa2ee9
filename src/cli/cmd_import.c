#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/time_options.h"

#include "archive/dense.h"
#include "archive/writer.h"
#include "base/cleanup.h"
#include "base/dir.h"
#include "base/file.h"
#include "base/meant.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "import/dataset.h"
#include "import/importer.h"
#include "model/meaning.h"
#include "report/flow.h"
#include "report/json.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limpet/archive.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct import_options {
	struct option_list worse;
	const char *output, *name;
	struct time_options times;
	bool json, quiet;
};

#define NAME_BYTES_MAX 200 /* a file name has up to 255 bytes, including a time and a suffix */

#define AT(member) offsetof(struct import_options, member)

static const struct option_def options[] = {
	{"output", 'o', OPTION_STRING, AT(output), "DIR", "directory for the archive"},
	{"name", 'n', OPTION_STRING, AT(name), "NAME",
		"name of the archive, NAME-20110509T000005Z.lpa [that of the observer, or "
		"'import']"},
	{"worse", 0, OPTION_PAIRS, AT(worse), "lower|higher METRIC",
		"which side of its peers is worse in a metric: 'lower bandwidth'; kept in the "
		"archive for 'limpet diagnose' and 'limpet train'; may be repeated"},
	TIME_OPTIONS(struct import_options),
	{"quiet", 'q', OPTION_FLAG, AT(quiet), NULL, "print nothing but errors"},
	{"json", 0, OPTION_FLAG, AT(json), NULL, "print the closing summary as JSON"},
	{NULL},
};

/* An import in progress. The file gets its real name at the end, when the first time is known. */
struct import {
	const struct import_options *opt;
	int dir; /* the target directory; -1 before the beginning */
	char *tmp_path;
	struct lp_archive_writer *writer;
	struct dense dense;
	struct lp_source *source; /* the source of the pending samples */
	char *observer;		  /* the only one so far; "" if there are several */
	struct meanings meanings; /* of metrics, given by the user */
	int64_t first_us, last_us, interval_us;
	uint64_t n_samples;
	size_t n_files, files_total;
	bool progress;
	bool failed; /* writing failed: do not finish the file */
};

static void import_release(struct import *im)
{
	dense_release(&im->dense);
	lp_archive_abandon(im->writer);
	if (im->tmp_path)
		unlinkat(im->dir, path_basename(im->tmp_path), 0);
	if (im->dir >= 0)
		close(im->dir);
	free(im->tmp_path);
	free(im->observer);
	meanings_release(&im->meanings);
}

/* The meaning of metrics, as a line of the archive's meta; "" for none. */
static void import_meta(const struct import *im, struct strbuf *to)
{
	if (!im->meanings.n)
		return;
	strbuf_puts(to, DATASET_WORSE "=");
	meanings_format(&im->meanings, to);
	strbuf_putc(to, '\n');
}

static int import_begin(struct import *im, struct lp_err *err)
{
	struct lp_archive_meta meta = {.observer = "", .interval_us = im->interval_us};
	_cleanup_(strbuf_release) struct strbuf extra = {0};
	int r;

	import_meta(im, &extra);
	if (extra.failed)
		return lp_err_sys(err, -ENOMEM, "cannot import");
	meta.extra = extra.text;

	im->dir = dir_make(im->opt->output, 0755, err);
	if (im->dir < 0)
		return im->dir;
	if (asprintf(&im->tmp_path, "%s/.import-%d" LP_ARCHIVE_SUFFIX ".tmp", im->opt->output,
		    (int)getpid()) < 0) {
		im->tmp_path = NULL;
		return lp_err_sys(err, -ENOMEM, "cannot import");
	}
	r = writer_create(im->dir, im->tmp_path, 0644, &meta, &im->writer, err);
	if (r == 0)
		dense_init(&im->dense, im->writer);
	return r;
}

/* Remember the observer if all components have the same. */
static int observers_see(struct import *im, const struct lp_catalogue *c)
{
	for (uint32_t i = 0; i < c->n_components; i++) {
		const char *name = c->components[i].observer;

		if (!im->observer)
			im->observer = strdup(name);
		else if (strcmp(im->observer, name))
			im->observer[0] = '\0';
		if (!im->observer)
			return -ENOMEM;
	}
	return 0;
}

static void batch_see(struct import *im, const struct lp_batch *b)
{
	for (uint32_t s = b->carry ? 1 : 0; s < b->n_samples; s++) {
		if (!im->n_samples || b->wall_us[s] < im->first_us)
			im->first_us = b->wall_us[s];
		if (!im->n_samples || b->wall_us[s] > im->last_us)
			im->last_us = b->wall_us[s];
		im->n_samples++;
	}
}

static void progress_print(const struct import *im, const char *path)
{
	if (!im->progress)
		return;
	fprintf(stderr, "\r\033[K%zu of %zu files, %" PRIu64 " samples: ", im->n_files,
		im->files_total, im->n_samples);
	flow_print_safe(stderr, path);
}

static int import_batch(
	void *ctx, struct lp_source *source, const struct lp_batch *b, struct lp_err *err)
{
	struct import *im = ctx;
	int r = 0;

	if (!b) {
		im->n_files++;
		progress_print(im, source->path);
		return 0;
	}
	if (!im->writer) {
		if (!source->interval_us)
			im->interval_us = 0; /* there is no common interval */
		r = import_begin(im, err);
	}
	if (r == 0 && observers_see(im, source->catalogue) < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot import");
	if (r == 0)
		r = dense_add(&im->dense, source->catalogue, b, err);
	/* The next source has another catalogue, so no data of this one may stay pending. The
	 * batches of importers are long, so flushing each of them costs little. */
	if (r == 0)
		r = dense_flush(&im->dense, source->catalogue, err);
	batch_see(im, b);
	im->failed = r < 0;
	return r;
}

/* The NAME of the archive: the given one, or that of the observer as far as it is valid in a file
 * name.
 */
static void import_base_name(const struct import *im, char buf[NAME_BYTES_MAX + 1])
{
	const char *name = im->opt->name;

	if (!name)
		name = im->observer && im->observer[0] ? im->observer : "import";
	snprintf(buf, NAME_BYTES_MAX + 1, "%s", name);
	for (char *p = buf; *p; p++) {
		if (*p == '/' || iscntrl((unsigned char)*p) || (p == buf && *p == '.'))
			*p = '_';
	}
}

/* Rename the file after its first sample, or after the next free second. */
static int import_name(struct import *im, char **ret_path, struct lp_err *err)
{
	char name[NAME_BYTES_MAX + 1], stamp[TIME_TEXT_MAX];
	int r;

	import_base_name(im, name);
	for (int64_t tries = 0; tries < 3600; tries++) {
		_cleanup_free_ char *path = NULL;

		if (asprintf(&path, "%s/%s-%s" LP_ARCHIVE_SUFFIX, im->opt->output, name,
			    time_format_compact(im->first_us + tries * US_PER_SEC, stamp)) < 0) {
			path = NULL;
			return lp_err_sys(err, -ENOMEM, "cannot import");
		}
		r = file_rename_new(im->dir, path_basename(im->tmp_path), path_basename(path));
		if (r == 0) {
			*ret_path = TAKE_PTR(path);
			return 0;
		}
		if (r != -EEXIST)
			return lp_err_sys(err, r, "cannot create %s", path);
	}
	return lp_err_set(err, -EEXIST, "cannot find a free name in %s", im->opt->output);
}

static int import_finish(struct import *im, struct lp_err *err)
{
	_cleanup_free_ char *path = NULL;
	char first[TIME_TEXT_MAX], last[TIME_TEXT_MAX];
	int r;

	if (!im->writer)
		return lp_err_set(err, -ENODATA, "there was nothing to import");
	r = lp_archive_close(TAKE_PTR(im->writer), err);
	if (r == 0)
		r = import_name(im, &path, err);
	if (r < 0)
		return r;
	time_format(im->first_us, first);
	time_format(im->last_us, last);
	if (im->opt->json) {
		printf("{\"files\":%zu,\"samples\":%" PRIu64
		       ",\"first\":\"%s\",\"last\":\"%s\",\"archive\":",
			im->n_files, im->n_samples, first, last);
		json_write_string(stdout, path);
		puts("}");
	} else if (!im->opt->quiet)
		flow_print_line(stdout, "%zu file%s, %" PRIu64 " samples from %s to %s into %s",
			im->n_files, im->n_files == 1 ? "" : "s", im->n_samples, first, last, path);
	return 0;
}

DEFINE_CLEANUP(struct lp_dataset *, lp_dataset_close);

static int import_run(struct import *im, struct lp_dataset *ds, struct lp_err *err)
{
	const struct lp_select select = {
		.from_us = im->opt->times.since_us, .to_us = im->opt->times.until_us};
	struct lp_err finish_err = {0};
	int r, finished;

	im->files_total = lp_dataset_n_files(ds);
	im->progress = !im->opt->quiet && isatty(STDERR_FILENO);
	r = lp_dataset_interval(ds, &im->interval_us, err);
	if (r == 0)
		r = dataset_meanings(ds, &im->meanings, err);
	if (r == 0)
		r = lp_dataset_read(ds, &select, import_batch, im, err);
	if (im->progress)
		fputs("\r\033[K", stderr);
	if (r == -ENOMEM || im->failed)
		return r;
	finished = import_finish(im, &finish_err);
	if (r == 0 && finished < 0)
		*err = finish_err;
	return r < 0 ? r : finished;
}

/* The first argument is neither a format nor a file: was a format meant? */
static int format_unknown(const char *word, struct lp_err *err)
{
	struct meant m = {.word = word};

	for (size_t i = 0; importers[i]; i++)
		meant_consider(&m, importers[i]->name);
	if (!m.edits)
		return err->code;
	return lp_err_set(
		err, -EINVAL, "there is no format and no file '%s'%s", word, meant_question(&m));
}

/* "limpet import FORMAT FILE..." or "limpet import FILE...". */
static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	_cleanup_(lp_dataset_closep) struct lp_dataset *ds = NULL;
	struct import_options *opt = values;
	_cleanup_(import_release) struct import im = {.opt = opt, .dir = -1};
	struct lp_warn warn = {.warn = data_print_once};
	const struct importer *format = n_args ? importer_find(args[0]) : NULL;
	int r = 0;

	if (n_args <= (format ? 1 : 0))
		r = lp_err_set(err, -EINVAL, "name the files to import (see 'limpet help import')");
	else if (!im.opt->output)
		r = lp_err_set(err, -EINVAL, "give the directory for the archive with -o DIR");
	else if (im.opt->name && (!im.opt->name[0] || strchr(im.opt->name, '/')))
		r = lp_err_set(err, -EINVAL, "'%s' cannot be part of a file name", im.opt->name);
	if (r == 0)
		r = meanings_parse(&im.meanings, im.opt->worse.items, im.opt->worse.n, err);
	if (r == 0)
		r = data_open_as(data, format, args + (format ? 1 : 0), n_args - (format ? 1 : 0),
			&warn, &ds, err);
	if (r < 0 && im.opt->output && n_args && !format && access(args[0], F_OK) < 0)
		r = format_unknown(args[0], err);
	if (r == 0)
		r = time_options_settle(&opt->times, ds, err);
	if (r == 0)
		r = import_run(&im, ds, err);
	return command_exit_code(r);
}

static const struct example examples[] = {
	{"import sysstat /var/log/sysstat/sa* -o DIR", "sysstat's daily files"},
	{"import csv data.csv -o DIR", "CSV with the columns time,component,metric,value"},
	{"import csv --time ts --component '{dir}/disk:{disk_id}' --value throughput,latency "
	 "*/*.csv -o DIR",
		"any other CSV, by naming its columns"},
	{NULL, NULL},
};

extern const struct command command_import;
const struct command command_import = {
	.name = "import",
	.summary = "turn data of other tools into an archive",
	.usage = "[FORMAT] [OPTION...] FILE... -o DIR",
	.description = "Every command reads foreign files directly; import them if you read them "
		       "often, because an archive is smaller and faster to read.\n\n"
		       "FORMAT is one of those below; without it each file is recognised by its "
		       "contents.",
	.options = options,
	.options_size = sizeof(struct import_options),
	.takes_data = true,
	.examples = examples,
	.run = run,
};
