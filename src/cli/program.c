#include "cli/program.h"
#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/help.h"
#include "cli/mpi_team.h"
#include "cli/waiting.h"

#include "report/flow.h"
#include "report/json.h"
#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool wants_help(const struct command *c, int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (c->runs_program && argv[i][0] != '-')
			return false;
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return true;
	}
	return false;
}

/* `limpet import csv` has only the options of CSV files; other commands have those of all
 * importers.
 */
static const struct importer *importer_named(int argc, char **argv)
{
	return argc > 1 ? importer_find(argv[1]) : NULL;
}

/* Times on the command line are parsed before a later --utc, so look for it first. */
static void choose_zone(const struct command *c, int argc, char **argv)
{
	const struct option_def *def = c->options;

	while (def && def->name && strcmp(def->name, "utc") != 0)
		def++;
	for (int i = 1; def && def->name && i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (!strcmp(argv[i], "--utc"))
			setenv("TZ", "UTC", 1);
	}
	tzset();
}

static bool wants_json(const struct command *c, int argc, char **argv)
{
	const struct option_def *def = c->options;

	while (def && def->name && strcmp(def->name, "json") != 0)
		def++;
	for (int i = 1; def && def->name && i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (c->runs_program && argv[i][0] != '-')
			return false;
		if (!strcmp(argv[i], "--json"))
			return true;
	}
	return false;
}

/* A reader of JSON gets an object even if there is only an error. A stream has no buffer until
 * something is printed; if output has begun, nothing is added. */
static void print_error(const char *text, int code)
{
	if (__fbufsize(stdout) == 0)
		json_print(stdout,
			json_pack("{s:s,s:o,s:i}", "limpet", LIMPET_VERSION, "error",
				json_text(text), "exit", code));
}

static int command_run(const struct command *c, int argc, char **argv)
{
	struct option_table tables[1 + DATA_IMPORTERS_MAX] = {{.defs = c->options}};
	struct data_options data = {0};
	struct lp_err err = {0};
	bool json = wants_json(c, argc, argv); /* parsing reorders the arguments */
	size_t n_tables = 1;
	int n_args = 0, code, r = 0;

	tables[0].values = calloc(1, c->options_size + 1);
	if (!tables[0].values)
		r = lp_err_sys(&err, -ENOMEM, "cannot start");
	if (r == 0 && c->takes_data)
		r = data_options_init(&data, importer_named(argc, argv), &err);
	for (size_t i = 0; i < data.n_tables; i++)
		tables[n_tables++] = data.tables[i];
	choose_zone(c, argc, argv);
	if (r == 0)
		r = option_parse(argc, argv, tables, n_tables,
			c->runs_program ? OPTION_IN_FRONT : OPTION_ANYWHERE, &n_args, &err);
	if (r < 0 && c->in_team && !mpi_team_first()) {
		/* The first one reports it. mpirun would kill that one if another failed first. */
		code = EXIT_HEALTHY;
		err.code = 0;
	} else if (r == -EINVAL || r == -E2BIG) {
		flow_print_line(
			stderr, "limpet %s: %s (see 'limpet help %s')", c->name, err.text, c->name);
		code = EXIT_USAGE;
	} else {
		code = r < 0 ? command_exit_code(r)
			     : c->run(n_args, argv, tables[0].values, &data, &err);
		if (err.code)
			command_complain(c->name, err.text);
	}
	if (json && err.code)
		print_error(err.text, code);
	data_options_release(&data);
	free(tables[0].values);
	return code;
}

/* Output that could not be written is a failure: a full disk must not look like a success. */
static int finish_output(int code)
{
	if (fflush(stdout) < 0)
		fprintf(stderr, "limpet: cannot write the output: %s\n", strerror(errno));
	else if (ferror(stdout))
		fputs("limpet: cannot write the output\n", stderr);
	else
		return code;
	return EXIT_INTERNAL;
}

/* The other program prints its own help and errors. */
static int become(const struct command *c, char **argv)
{
	struct lp_err err = {0};

	program_exec(c->program, argv, &err);
	command_complain(c->name, err.text);
	return EXIT_USAGE;
}

int program_main(int argc, char **argv)
{
	char **all = argv;
	struct lp_err err = {0};
	const struct command *c;
	int n_words;

	if (argc < 2) {
		help_print_overview(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		argv[1] = "help";
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
		argv[1] = "version";
	n_words = command_find(argc - 1, argv + 1, &c, &err);
	if (n_words < 0) {
		command_complain(NULL, err.text);
		return EXIT_USAGE;
	}
	if (c->program)
		return become(c, argv);
	argc -= n_words;
	argv += n_words;
	if (wants_help(c, argc, argv)) {
		help_print_command(stdout, c);
		return finish_output(EXIT_HEALTHY);
	}
	if (!c->run) {
		help_print_command(stderr, c);
		return EXIT_USAGE;
	}
	if (c->computes)
		waiting_be_calm(all);
	return finish_output(command_run(c, argc, argv));
}
