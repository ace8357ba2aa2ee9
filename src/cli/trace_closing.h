/* Messages of `limpet trace syscalls` while it runs and at its end. */
#ifndef CLI_TRACE_CLOSING_H
#define CLI_TRACE_CLOSING_H

#include "trace/session.h"
#include <stdio.h>

#define CLOSING_NAME_MAX 160

/* A process name or a kind of failure, and its count. */
struct closing_row {
	char name[CLOSING_NAME_MAX];
	uint64_t n, errors;
};

struct closing_list {
	struct closing_row *items;
	size_t n, cap;
};

/* Collects the messages. Zero-initialise it, and call closing_release(). */
struct closing {
	const struct trace_session_config *config;
	bool quiet; /* print nothing at the beginning */
	bool live;  /* a line on the terminal while it runs */
	uint64_t events_before;
	int64_t elapsed_before_us;
	struct closing_list processes, errnos;
	struct closing_program {
		struct trace_program program; /* without its path */
		char path[CLOSING_NAME_MAX], user[64];
	} programs[TRACE_PROGRAMS_MAX];
	unsigned n_programs;
	uint64_t n_more; /* processes of other programs */
};

void closing_release(struct closing *c);

/* The session's callbacks; `ctx` is a struct closing. */
void closing_started(void *ctx, const struct trace_stats *stats);
void closing_progress(void *ctx, const struct trace_stats *stats);
void closing_programs(void *ctx, const struct trace_programs *programs, bool at_end);
void closing_row(void *ctx, enum trace_rows_kind kind, const char *name, const int64_t *values);

/* Print the closing summary for people. */
void closing_print(struct closing *c, const struct trace_stats *stats, FILE *out);

/* Print the closing summary for programs: one object on standard output. */
int closing_print_json(struct closing *c, const struct trace_stats *stats, struct lp_err *err);

#endif
