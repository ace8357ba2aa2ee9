#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/program.h"
#include "cli/stack_kernel.h"
#include "cli/stack_plan.h"
#include "cli/trace_output.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "trace/stack/gaps.h"
#include "trace/stack/layer.h"
#include "trace/stack/spans_run.h"
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

struct run_options {
	const char *config, *output, *name, *scratch;
	struct option_list layers;
	struct stack_daemon_options daemons;
	int64_t linger_us;
	bool dry_run, quiet, json, exit_status, summary;
};

#define AT(member) offsetof(struct run_options, member)

static const struct option_def options[] = {
	{"config", 'c', OPTION_STRING, AT(config), "FILE",
		"what to record: a YAML file, or the name of a built-in configuration ('limpet "
		"stack layers' lists them) [posix]"},
	{"layers", 0, OPTION_LIST, AT(layers), "LAYER,...",
		"record these layers, instead of the configuration's"},
	STACK_DAEMON_OPTIONS(struct run_options),
	{"linger", 0, OPTION_SPAN, AT(linger_us), "SPAN",
		"continue to record the layers in the kernel for this time after the program "
		"has ended, to see late writes [0]"},
	{"output", 'o', OPTION_STRING, AT(output), "PATH",
		"directory of the archives NAME-stack-TIME.lpa, or a file that ends in .lpa and "
		"does not exist yet [.]"},
	{"name", 'n', OPTION_STRING, AT(name), "NAME",
		"name of this host in the archive [the host name]"},
	{"scratch", 0, OPTION_STRING, AT(scratch), "DIR",
		"directory in which the program keeps records until limpet reads them; best in "
		"memory [/dev/shm]"},
	{"summary", 0, OPTION_FLAG, AT(summary), NULL,
		"record only sums per layer and operation; the ranks of an MPI job add up "
		"theirs in MPI_Finalize"},
	{"dry-run", 0, OPTION_FLAG, AT(dry_run), NULL,
		"print what would be recorded and what that would cost; run nothing"},
	{"exit-status", 0, OPTION_FLAG, AT(exit_status), NULL,
		"exit with the program's own status"},
	{"quiet", 'q', OPTION_FLAG, AT(quiet), NULL, "print nothing but errors"},
	{"json", 0, OPTION_FLAG, AT(json), NULL, "print the plan or the closing summary as JSON"},
	{NULL},
};

DEFINE_CLEANUP(struct spans_run *, spans_run_free);
DEFINE_CLEANUP(struct kernel_run *, kernel_run_free);

/* Print what would be done. */
static int plan_print(const struct run_options *opt, const struct stack_config *c,
	char *const *command, struct lp_err *err)
{
	uint32_t mask = c->layers & ~LAYERS_IN_KERNEL;
	int r;

	if (opt->json)
		return trace_summary_print(
			json_pack("{s:o, s:i, s:i, s:o}", "layers", stack_layers_json(c->layers),
				"ns_per_call", 150, "bytes_per_call", 128, "kernel",
				stack_kernel_plan_json(c->layers)),
			err);
	puts("These calls are recorded by libraries that are loaded into the program:");
	for (unsigned i = 0; i < layers_n; i++) {
		if (mask >> i & 1)
			printf("  %-9s %s (%s)\n", layers[i].name, layers[i].boundary,
				layers[i].library);
	}
	r = stack_plan_limits(c, command, err);
	if (r < 0)
		return r;
	puts("Each takes some 0.1 to 0.3 us longer, and 128 bytes of memory until it is written.");
	stack_kernel_plan(c->layers);
	return 0;
}

static int summary_print(const struct run_options *opt, const struct stack_config *c,
	const struct spans_run *run, const struct kernel_run *kernel,
	const struct loop_stats *stats, struct lp_err *err)
{
	const struct spans_totals *t = spans_run_totals(run);
	struct stack_gaps gaps = stack_gaps_of(t, c->layers & ~LAYERS_IN_KERNEL, c->n_regions > 0);
	struct kernel_run_totals k = {0};
	uint64_t calls;

	if (kernel)
		k = kernel_run_totals(kernel);
	if (opt->json)
		return trace_summary_print(
			json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:i, s:s, s:o?}",
				"processes", (json_int_t)t->processes, "spans",
				(json_int_t)t->spans, "lost", (json_int_t)t->lost, "open",
				(json_int_t)t->open, "killed", (json_int_t)t->killed, "damaged",
				(json_int_t)t->damaged, "called", stack_layers_json(t->called),
				"status", spans_run_status(run), "file", stats->spool.path,
				"kernel", kernel ? stack_kernel_json(&k) : NULL),
			err);
	if (opt->quiet)
		return 0;
	stack_gaps_print(stderr, &gaps);
	if (kernel)
		stack_kernel_gaps(c->layers, &k);
	calls = t->spans + k.spans.spans;
	if (t->sums.any) {
		fprintf(stderr,
			"sums of %" PRIu64 " %s are in %s; 'limpet stack show' prints them\n",
			t->processes, t->processes == 1 ? "process" : "processes",
			stats->spool.path);
		return 0;
	}
	fprintf(stderr,
		"%" PRIu64 " %s of %" PRIu64 " %s %s in %s; 'limpet stack show' prints %s\n", calls,
		calls == 1 ? "call" : "calls", t->processes,
		t->processes == 1 ? "process" : "processes", calls == 1 ? "is" : "are",
		stats->spool.path, calls == 1 ? "it" : "them");
	return 0;
}

/* The exit status of the program, as a shell reports it. */
static int status_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Report to the layers below whether the program has ended. */
static bool program_ended(const void *ctx)
{
	struct spans_run *const *run = ctx;

	return *run && spans_run_status(*run) != -1;
}

static int record(const struct run_options *opt, const struct stack_config *c,
	const struct daemons *daemons, char **command, int *ret_status, struct lp_err *err)
{
	_cleanup_(spans_run_freep) struct spans_run *run = NULL;
	_cleanup_(kernel_run_freep) struct kernel_run *kernel = NULL;
	struct lp_warn warn = {.warn = data_print_warning};
	struct loop_stats stats = {0};
	struct trace_output output;
	char runtime[PATH_MAX], meta[256];
	struct spans_run_config config = {.observer = output.name,
		.stack = c,
		.runtime = runtime,
		.scratch = opt->scratch,
		.command = command,
		.wall_offset_ns = clock_wall_offset_ns()};
	struct kernel_run_config below = {.observer = output.name,
		.layers = c->layers & LAYERS_IN_KERNEL,
		.daemons = *daemons,
		.children = true,
		.wall_offset_ns = config.wall_offset_ns,
		.ended = program_ended,
		.ended_ctx = &run,
		.linger_us = opt->linger_us};
	struct loop_instrument above;
	int r = trace_output_choose(opt->output, opt->name, "stack", &output, err);

	snprintf(meta, sizeof(meta), "trace=stack\n%s%.100s%s", c->drive ? "drive=" : "",
		c->drive ? c->drive : "", c->drive ? "\n" : "");
	if (r == 0)
		r = program_runtime(runtime, err);
	if (r == 0)
		r = spans_run_new(&config, &run, err);
	if (r == 0 && below.layers)
		r = kernel_run_new(&below, &kernel, err);
	above = (struct loop_instrument){&instrument_spans, run};
	/* The instrument of the kernel begins before the program. */
	if (r == 0)
		r = trace_drive(
			&(struct trace_drive){.output = &output,
				.instrument = kernel
					? (struct loop_instrument){&instrument_kernel_layers,
						  kernel}
					: above,
				.besides = kernel ? above : (struct loop_instrument){NULL, NULL},
				.meta = meta,
				.logs = true,
				.interval_us = US_PER_SEC,
				.flush_us = 10 * US_PER_SEC,
				.warn = &warn},
			&stats, err);
	if (r < 0)
		return r;
	*ret_status = spans_run_status(run);
	r = summary_print(opt, c, run, kernel, &stats, err);
	if (r == 0 && stats.spool.records_lost)
		r = lp_err_set(err, -EIO, "%" PRIu64 " calls could not be written",
			stats.spool.records_lost);
	return r < 0 ? r : trace_check_written(&stats, err);
}

static int config_choose(
	const struct run_options *opt, struct stack_config *config, struct lp_err *err)
{
	int r = stack_config_load(opt->config ? opt->config : "posix", config, err);

	if (r == 0)
		r = stack_layers_choose(&opt->layers, &config->layers, err);
	config->summary = opt->summary;
	return r;
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct run_options *opt = values;
	_cleanup_(stack_config_release) struct stack_config config = {0};
	_cleanup_(stack_daemons_release) struct stack_daemons daemons = {0};
	int status = -1, r = config_choose(opt, &config, err);

	(void)data;
	if (r == 0 && !n_args && !opt->dry_run)
		r = lp_err_set(err, -EINVAL,
			"name the program: limpet stack run -- mpirun -n 4 ./application");
	if (r == 0)
		r = stack_daemons_choose(&opt->daemons, &daemons, err);
	if (r == 0 && opt->dry_run) {
		args[n_args] = NULL;
		r = plan_print(opt, &config, args, err);
	} else if (r == 0) {
		args[n_args] = NULL;
		r = record(opt, &config, &daemons.chosen, args, &status, err);
	}
	if (r < 0 || status < 0)
		return trace_exit_code(r);
	if (!opt->exit_status && status && !opt->quiet)
		fprintf(stderr, "the program %s %d\n",
			WIFSIGNALED(status) ? "was killed by signal" : "exited with",
			WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return opt->exit_status ? status_code(status) : EXIT_HEALTHY;
}

static const struct example examples[] = {
	{"stack run -o traces -- ./application", "record the file operations of a program"},
	{"stack run -c mpi-io -o traces -- mpirun -n 4 ./application",
		"record the same of an MPI job, with MPI-IO above it"},
	{"stack run -c stack.yaml --dry-run", "print what would be recorded, and its cost"},
	{NULL, NULL},
};

extern const struct command stack_command_run;
const struct command stack_command_run = {
	.name = "stack run",
	.summary = "run a program and record its calls in the layers of the I/O stack",
	.usage = "[OPTION...] -- PROGRAM [ARGUMENT...]",
	.description =
		"Runs a program with small libraries loaded into it (by LD_PRELOAD). They "
		"record each file operation of HDF5, PnetCDF, MPI-IO and the C library: its "
		"time, file, offset and size, and the call of the layer above that it belongs "
		"to. They do not record the data itself. The program and the programs that it "
		"starts need no change, and get the same results and error codes. Programs that "
		"are linked statically or setuid are not recorded, nor is I/O through mmap.\n\n"
		"A configuration names the layers, and may limit what is recorded:\n\n"
		"    application: flash_io     # other programs are not recorded\n"
		"    regions: [checkpoint, write_plot(), io.c:120-180] # marks "
		"(limpet/region.h), functions, lines\n"
		"    operations: [write, collective] # other, read, open, close, sync, meta, "
		"wait\n"
		"    layers: [mpi-io, posix]\n\n"
		"Built-in configurations can be combined: -c pnetcdf,glusterfs records the "
		"layers of both. limpet can also record the calls of any other library: "
		"docs/stack.md describes the list 'functions' and all other keys.",
	.examples = examples,
	.options = options,
	.options_size = sizeof(struct run_options),
	.run = run,
};
