#include "cli/command.h"
#include "cli/data_options.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "report/flow.h"
#include "report/json.h"
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limpet/archive.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEPTH_MAX 16

struct check_options {
	bool repair, json;
	const char *output;
};

static const struct option_def options[] = {
	{"repair", 0, OPTION_FLAG, offsetof(struct check_options, repair), NULL,
		"copy every intact block of a damaged file into a new one, FILE.repaired"},
	{"output", 'o', OPTION_STRING, offsetof(struct check_options, output), "FILE",
		"with --repair and one file: the name of the new file"},
	{"json", 0, OPTION_FLAG, offsetof(struct check_options, json), NULL, "print JSON"},
	{NULL},
};

/* The problems of one file, collected for JSON or printed immediately. */
struct check_findings {
	json_t *list; /* NULL: print */
};

static void take_finding(void *ctx, const char *text)
{
	struct check_findings *f = ctx;

	if (f->list)
		json_array_append_new(f->list, json_text(text));
	else
		flow_print_line(stdout, "%s", text);
}

static void print_report(const char *path, const struct lp_archive_report *rep)
{
	char first[TIME_TEXT_MAX], last[TIME_TEXT_MAX];

	flow_print_safe(stdout, path);
	printf(": %s, %" PRIu64 " bytes, %u block%s, %u sample%s",
		rep->n_damaged ? "DAMAGED" : "sound", rep->size_bytes, rep->n_frames,
		rep->n_frames == 1 ? "" : "s", rep->n_samples, rep->n_samples == 1 ? "" : "s");
	if (rep->n_samples)
		printf(" from %s to %s", time_format(rep->first_us, first),
			time_format(rep->last_us, last));
	if (rep->n_records)
		printf(", %" PRIu64 " records of logs (%" PRIu64 " bytes)", rep->n_records,
			rep->log_bytes);
	if (rep->n_damaged)
		printf("; %u damaged stretch%s, %" PRIu64 " bytes", rep->n_damaged,
			rep->n_damaged == 1 ? "" : "es", rep->damaged_bytes);
	printf("\n");
}

static json_t *report_json(const char *path, const struct lp_archive_report *rep, json_t *problems,
	const char *repaired)
{
	char first[TIME_TEXT_MAX], last[TIME_TEXT_MAX];

	return json_pack("{s:o,s:b,s:b,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:s?,s:s?,s:O,s:o}", "file",
		json_text(path), "sound", rep->n_damaged == 0, "sealed", rep->sealed, "bytes",
		(json_int_t)rep->size_bytes, "blocks", (json_int_t)rep->n_frames, "samples",
		(json_int_t)rep->n_samples, "records", (json_int_t)rep->n_records, "log_bytes",
		(json_int_t)rep->log_bytes, "damaged_bytes", (json_int_t)rep->damaged_bytes,
		"unfinished_bytes", (json_int_t)rep->unfinished_bytes, "first",
		rep->n_samples ? time_format(rep->first_us, first) : NULL, "last",
		rep->n_samples ? time_format(rep->last_us, last) : NULL, "problems", problems,
		"repaired", repaired ? json_text(repaired) : json_null());
}

/* Check one file; its JSON is appended to `out` if that is not NULL. */
static int check_one(
	const char *path, const struct check_options *opt, json_t *out, struct lp_err *err)
{
	struct lp_archive_report rep = {0};
	struct check_findings findings = {.list = out ? json_array() : NULL};
	struct lp_warn warn = {.warn = take_finding, .ctx = &findings};
	char repaired[4096];
	int r;

	snprintf(repaired, sizeof(repaired), opt->output ? "%s" : "%s.repaired",
		opt->output ? opt->output : path);
	r = lp_archive_check(path, opt->repair ? repaired : NULL, &warn, &rep, err);
	if (r == 0 || (r == -EBADMSG && rep.n_damaged)) { /* otherwise it is not an archive at
							   * all */
		const char *new_file = opt->repair ? repaired : NULL;

		if (out)
			json_array_append_new(
				out, report_json(path, &rep, findings.list, new_file));
		else
			print_report(path, &rep);
		if (!out && new_file)
			flow_print_line(stdout, "%s: every intact block is in %s", path, new_file);
	}
	json_decref(findings.list);
	return r;
}

/* All that is checked. */
struct check_run {
	const struct check_options *opt;
	json_t *out; /* NULL: results are printed */
	size_t n;    /* archives that were found */
	int worst;
	struct lp_err *err; /* the last failure; those before were printed */
};

static void failure_note(struct check_run *run, const struct lp_err *here)
{
	if (run->worst < 0)
		command_complain("check", run->err->text);
	*run->err = *here;
	run->worst = here->code;
}

static void file_check(struct check_run *run, const char *path)
{
	struct lp_err here = {0};

	run->n++;
	if (check_one(path, run->opt, run->out, &here) < 0)
		failure_note(run, &here);
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_archive_name(const char *name)
{
	size_t n = strlen(name), m = strlen(LP_ARCHIVE_SUFFIX);

	return n > m && !strcmp(name + n - m, LP_ARCHIVE_SUFFIX);
}

static int entry_wanted(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

/* The archives in a directory and in those below it, in the order of their names. */
static void directory_check(struct check_run *run, const char *path, unsigned depth)
{
	struct dirent **entries = NULL;
	struct lp_err here = {0};
	int n = scandir(path, &entries, entry_wanted, alphasort);

	if (n < 0) {
		lp_err_sys(&here, -errno, "cannot read directory %s", path);
		failure_note(run, &here);
	}
	for (int i = 0; i < n; i++) {
		_cleanup_free_ char *full = NULL;

		if (asprintf(&full, "%s/%s", path, entries[i]->d_name) < 0)
			full = NULL;
		if (full && is_directory(full) && depth < DEPTH_MAX)
			directory_check(run, full, depth + 1);
		else if (full && is_archive_name(full) && !is_directory(full))
			file_check(run, full);
		free(entries[i]);
	}
	free(entries);
}

static void argument_check(struct check_run *run, const char *path)
{
	struct lp_err here = {0};
	size_t before = run->n;

	if (!is_directory(path)) {
		file_check(run, path);
		return;
	}
	directory_check(run, path, 0);
	if (run->n == before && run->worst == 0) {
		lp_err_set(&here, -ENOENT, "there are no archives (*%s) in %s", LP_ARCHIVE_SUFFIX,
			path);
		failure_note(run, &here);
	}
}

static int usage_check(int n_args, char **args, const struct check_options *opt, struct lp_err *err)
{
	if (n_args < 1)
		return lp_err_set(
			err, -EINVAL, "name the archives to check, or directories of archives");
	if (opt->output && !opt->repair)
		return lp_err_set(err, -EINVAL, "-o goes with --repair");
	if (opt->output && (n_args > 1 || is_directory(args[0])))
		return lp_err_set(err, -EINVAL, "-o goes with one file only");
	return 0;
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct check_options *opt = values;
	struct check_run all = {.opt = opt, .err = err};

	(void)data;
	if (usage_check(n_args, args, opt, err) < 0)
		return EXIT_USAGE;
	all.out = opt->json ? json_array() : NULL;
	for (int i = 0; i < n_args; i++)
		argument_check(&all, args[i]);
	if (all.out)
		json_print(stdout, all.out);
	return command_exit_code(all.worst);
}

static const struct example examples[] = {
	{"check /var/lib/limpet", "verify every byte of all archives in a directory"},
	{"check --repair broken.lpa", "rescue what is intact into broken.lpa.repaired"},
	{NULL, NULL},
};

extern const struct command command_check;
const struct command command_check = {
	.name = "check",
	.summary = "verify archives, and rescue the intact part of damaged ones",
	.usage = "[--repair] [--json] FILE|DIR...",
	.description = "Reads every byte of the archives and verifies all checksums. Of a "
		       "directory, it checks "
		       "the archives (*.lpa) in it and in the directories below. For each "
		       "damaged stretch "
		       "it says which bytes and which seconds are lost. A block that a killed "
		       "recorder left "
		       "unfinished at the end of a file is not damage.\n\n"
		       "With --repair every intact block is copied to a new file, which is sound; "
		       "the damaged "
		       "file stays as it is.",
	.options = options,
	.options_size = sizeof(struct check_options),
	.examples = examples,
	.run = run,
};
