/* The common part of the verbs of `limpet trace`: where archives are written, and exit codes. */
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
	const char *path; /* a file that does not exist yet; NULL: names are generated */
};

/* Rows for a table of options of `type`, which must have members with these names: the common
 * options of `limpet trace calls`, `functions` and `samples`. `what` is in the names of archives,
 * `interval` and `flush` are their help. */
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
			"write to disk this often; a crash loses at most this much " flush},       \
		{"top", 0, OPTION_UINT, offsetof(type, top), "N",                                  \
			"list this many functions in the closing summary [20]"},                   \
		SEND_OPTIONS(offsetof(type, send)),                                                \
		{"quiet", 'q', OPTION_FLAG, offsetof(type, quiet), NULL,                           \
			"print nothing but errors"},                                               \
	{                                                                                          \
		"json", 0, OPTION_FLAG, offsetof(type, json), NULL,                                \
			"print the closing summary as JSON"                                        \
	}

/* From the options --output and --name (NULL if not given): archives are NAME-WHAT-TIME.lpa in a
 * directory, or one file that ends in .lpa. */
int trace_output_choose(const char *output, const char *name, const char *what,
	struct trace_output *ret, struct lp_err *err);

/* How to record an instrument into these archives. */
struct trace_drive {
	const struct trace_output *output;
	struct loop_instrument instrument;
	struct loop_instrument besides; /* begins after the first one; instrument NULL: none */
	const char *meta;		/* lines "key=value\n" about the instrument */
	const char *begin; /* printed at the start, before "into PATH"; NULL: nothing */
	bool logs;	   /* there are logs in addition to samples */
	const struct send_options *send; /* NULL: nothing is sent */
	int64_t interval_us, flush_us, duration_us;
	struct lp_warn *warn;
};

/* Record until it is stopped or the duration is over. */
int trace_drive(const struct trace_drive *d, struct loop_stats *ret_stats, struct lp_err *err);

/* If requested, begin to send the trace that a spool with this configuration will write; it is then
 * flushed every second. */
int trace_send_begin(const struct send_options *send, struct spool_config *spool, int64_t *flush_us,
	struct lp_warn *warn, struct sender **ret, struct lp_err *err);

/* Return an error if the loop could not write all data. */
int trace_check_written(const struct loop_stats *stats, struct lp_err *err);

/* A function with counted calls. */
struct trace_function {
	const char *name; /* the rows' */
	int64_t n, ns;
	bool off; /* no longer counted */
};

struct trace_functions {
	struct trace_function *items;
	size_t n, cap;
	size_t n_off;
	int64_t calls, ns; /* of all */
};

/* The functions of rows with the columns of calls (trace/calls/calls.h), the one that took the
 * longest time first. The caller frees `ret->items`. */
void trace_functions_list(const struct named_rows *rows, struct trace_functions *ret);

/* Print a closing summary, and release it; NULL: out of memory. */
int trace_summary_print(json_t *summary, struct lp_err *err);

/* Distinguish errors of the user from failures of limpet. */
int trace_exit_code(int r);

#endif
