/* The common part of the verbs of `limpet trace`: the places of archives, and exit codes. */
#ifndef CLI_TRACE_OUTPUT_H
#define CLI_TRACE_OUTPUT_H

#include "cli/observer.h"
#include "cli/send_options.h"
#include "collect/loop.h"
#include "trace/named_rows.h"
#include <jansson.h>

struct trace_output {
	char name[OBSERVER_NAME_MAX];		/* of this server */
	char file_name[OBSERVER_NAME_MAX + 16]; /* the beginning of the names of archives */
	const char *dir;
	const char *path; /* of one file that does not exist yet; NULL: names are made */
};

/* Rows for a table of options of `type`, which has members of these names: the common options of
 * `limpet trace calls`, `functions` and `samples`. `what` is in the names of archives, `interval`
 * and `flush` are their help. */
#define TRACE_OPTIONS(type, what, interval, flush)                                                 \
	{"output", 'o', OPTION_STRING, offsetof(type, output), "PATH",                             \
		"directory of the archives NAME-" what                                             \
		"-TIME.lpa, or a file that ends in .lpa and does not exist yet [.]"},              \
		{"name", 'n', OPTION_STRING, offsetof(type, name), "NAME",                         \
			"name of this server in component and file names [the host name]"},        \
		{"duration", 'd', OPTION_SPAN, offsetof(type, duration_us), "SPAN",                \
			"stop after this time [never]"},                                           \
		{"interval", 'i', OPTION_SPAN, offsetof(type, interval_us), "SPAN", interval},     \
		{"flush", 0, OPTION_SPAN, offsetof(type, flush_us), "SPAN",                        \
			"write to disk this often: what a crash can cost " flush},                 \
		{"top", 0, OPTION_UINT, offsetof(type, top), "N",                                  \
			"functions in the closing summary [20]"},                                  \
		SEND_OPTIONS(offsetof(type, send)),                                                \
		{"quiet", 'q', OPTION_FLAG, offsetof(type, quiet), NULL,                           \
			"print nothing but errors"},                                               \
	{                                                                                          \
		"json", 0, OPTION_FLAG, offsetof(type, json), NULL,                                \
			"print the closing summary as JSON"                                        \
	}

/* From the options --output and --name (NULL if not given): archives are called NAME-WHAT-TIME.lpa
 * in a directory, or are a file that ends in .lpa. */
int trace_output_choose(const char *output, const char *name, const char *what,
	struct trace_output *ret, struct lp_err *err);

/* How an instrument is driven into these archives. */
struct trace_drive {
	const struct trace_output *output;
	struct loop_instrument instrument;
	struct loop_instrument besides; /* begins after it; instrument NULL: none */
	const char *meta;		/* lines "key=value\n" about the instrument */
	const char *begin; /* printed at the start, before "into PATH"; NULL: print nothing */
	bool logs;	   /* there are logs besides samples */
	const struct send_options *send; /* NULL: nothing is sent */
	int64_t interval_us, flush_us, duration_us;
	struct lp_warn *warn;
};

/* Until it is stopped or the duration is over. */
int trace_drive(const struct trace_drive *d, struct loop_stats *ret_stats, struct lp_err *err);

/* Begin to send a trace that a spool of this configuration will write, if requested; it is then
 * flushed every second. */
int trace_send_begin(const struct send_options *send, struct spool_config *spool, int64_t *flush_us,
	struct lp_warn *warn, struct sender **ret, struct lp_err *err);

/* Data that the loop could not write is a failure. */
int trace_check_written(const struct loop_stats *stats, struct lp_err *err);

/* A function whose calls were counted. */
struct trace_function {
	const char *name; /* the rows' */
	int64_t n, ns;
	bool off; /* not counted any more */
};

struct trace_functions {
	struct trace_function *items;
	size_t n, cap;
	size_t n_off;
	int64_t calls, ns; /* of all */
};

/* The functions of rows with the columns of calls (trace/calls/calls.h), the one that took longest
 * first. The caller frees `ret->items`. */
void trace_functions_list(const struct named_rows *rows, struct trace_functions *ret);

/* Print a closing summary, which is released; NULL: there was no memory for it. */
int trace_summary_print(json_t *summary, struct lp_err *err);

/* Distinguish errors of the user from failures of ours. */
int trace_exit_code(int r);

#endif
