#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/stack_kernel.h"
#include "cli/trace_output.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "trace/stack/layer.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

struct attach_options {
	const char *output, *name;
	struct option_list layers;
	struct stack_daemon_options daemons;
	int64_t duration_us;
	uint64_t ring_bytes;
	bool dry_run, quiet, json;
};

#define AT(member) offsetof(struct attach_options, member)

static const struct option_def options[] = {
	{"layers", 0, OPTION_LIST, AT(layers), "LAYER,...",
		"record these layers [fuse, client, network, server, storage, block]"},
	STACK_DAEMON_OPTIONS(struct attach_options),
	{"output", 'o', OPTION_STRING, AT(output), "PATH",
		"directory of the archives NAME-stack-TIME.lpa, or a file that ends in .lpa and "
		"does not exist yet [.]"},
	{"name", 'n', OPTION_STRING, AT(name), "NAME",
		"name of this host in the archive [the host name]"},
	{"duration", 'd', OPTION_SPAN, AT(duration_us), "SPAN", "stop after this time [never]"},
	{"ring", 0, OPTION_BYTES, AT(ring_bytes), "SIZE",
		"size of the buffer for events that wait to be read [16M]"},
	{"dry-run", 0, OPTION_FLAG, AT(dry_run), NULL,
		"print what would be watched and what that would cost; watch nothing"},
	{"quiet", 'q', OPTION_FLAG, AT(quiet), NULL, "print nothing but errors"},
	{"json", 0, OPTION_FLAG, AT(json), NULL, "print the plan or the closing summary as JSON"},
	{NULL},
};

DEFINE_CLEANUP(struct kernel_run *, kernel_run_free);

static int layers_check(uint32_t mask, struct lp_err *err)
{
	uint32_t other = mask & ~LAYERS_IN_KERNEL;

	for (unsigned i = 0; i < layers_n; i++) {
		if (other >> i & 1)
			return lp_err_set(err, -EINVAL,
				"the layer %s is recorded inside the program that calls it: "
				"'limpet stack run' does that",
				layers[i].name);
	}
	return 0;
}

static int plan_print(const struct attach_options *opt, uint32_t mask,
	const struct daemons *daemons, struct lp_err *err)
{
	pid_t pids[DAEMONS_MAX];
	size_t n = daemons_find("/proc", daemons, pids);

	if (opt->json) {
		json_t *plan = stack_kernel_plan_json(mask), *list = json_array();

		for (size_t i = 0; i < n; i++)
			json_array_append_new(list, json_integer(pids[i]));
		json_object_set_new(plan, "daemons", list);
		return trace_summary_print(plan, err);
	}
	stack_kernel_plan(mask);
	if (!n)
		puts("There is no daemon to watch now; daemons that are started later will be "
		     "watched.");
	for (size_t i = 0; i < n; i++)
		printf("%s%d%s", i ? ", " : "Daemons: ", pids[i], i + 1 == n ? "\n" : "");
	return 0;
}

static int summary_print(const struct attach_options *opt, uint32_t mask,
	const struct kernel_run *run, const struct loop_stats *stats, struct lp_err *err)
{
	struct kernel_run_totals t = kernel_run_totals(run);
	json_t *o;

	if (opt->json) {
		o = stack_kernel_json(&t);
		if (o)
			json_object_set_new(o, "file", json_string(stats->spool.path));
		return trace_summary_print(o, err);
	}
	if (opt->quiet && !t.lost)
		return 0;
	/* A server has no FUSE, and a client has no storage, so only named layers are reported as
	 * missing. */
	stack_kernel_gaps(opt->layers.n || !t.spans.spans ? mask : 0, &t);
	fprintf(stderr,
		"%" PRIu64
		" requests and calls are in %s; 'limpet stack show' joins them with those "
		"of other hosts\n",
		t.spans.spans, stats->spool.path);
	return 0;
}

static void tell_ready(void *ctx)
{
	const struct trace_output *output = ctx;

	fprintf(stderr, "watching the I/O of daemons and disks, into %s; Ctrl-C stops\n",
		output->path ? output->path : output->dir);
}

static int record(const struct attach_options *opt, uint32_t mask, const struct daemons *daemons,
	struct lp_err *err)
{
	_cleanup_(kernel_run_freep) struct kernel_run *run = NULL;
	struct lp_warn warn = {.warn = data_print_warning};
	struct loop_stats stats = {0};
	struct trace_output output;
	struct kernel_run_config config = {.observer = output.name,
		.layers = mask,
		.daemons = *daemons,
		.wall_offset_ns = clock_wall_offset_ns(),
		.ring_bytes = opt->ring_bytes,
		.ready = opt->quiet ? NULL : tell_ready,
		.ready_ctx = &output};
	int r = trace_output_choose(opt->output, opt->name, "stack", &output, err);

	if (r == 0)
		r = kernel_run_new(&config, &run, err);
	if (r == 0)
		r = trace_drive(&(struct trace_drive){.output = &output,
					.instrument = {&instrument_kernel_layers, run},
					.meta = "trace=stack\n",
					.logs = true,
					.interval_us = US_PER_SEC,
					.flush_us = 10 * US_PER_SEC,
					.duration_us = opt->duration_us,
					.warn = &warn},
			&stats, err);
	if (r == 0)
		r = summary_print(opt, mask, run, &stats, err);
	if (r == 0 && stats.spool.records_lost)
		r = lp_err_set(err, -EIO, "%" PRIu64 " requests could not be written",
			stats.spool.records_lost);
	return r < 0 ? r : trace_check_written(&stats, err);
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct attach_options *opt = values;
	_cleanup_(stack_daemons_release) struct stack_daemons daemons = {0};
	uint32_t mask = LAYERS_IN_KERNEL;
	int r;

	(void)args;
	(void)data;
	r = n_args ? lp_err_set(err, -EINVAL,
			     "'limpet stack attach' runs no program; 'limpet stack run' does")
		   : stack_layers_choose(&opt->layers, &mask, err);
	if (r == 0)
		r = layers_check(mask, err);
	if (r == 0)
		r = stack_daemons_choose(&opt->daemons, &daemons, err);
	if (r == 0)
		r = opt->dry_run ? plan_print(opt, mask, &daemons.chosen, err)
				 : record(opt, mask, &daemons.chosen, err);
	return trace_exit_code(r);
}

static const struct example examples[] = {
	{"stack attach -o traces",
		"on a server: record what its daemon does for clients, until Ctrl-C"},
	{"stack attach --port 24007 -d 60s -o traces",
		"only the daemon that listens on this port, for a minute"},
	{"stack attach --layers fuse,client -o traces",
		"on a client: record what the kernel requests of its daemon"},
	{NULL, NULL},
};

extern const struct command stack_command_attach;
const struct command stack_command_attach = {
	.name = "stack attach",
	.summary = "record the layers that the kernel sees, on a client or a server",
	.usage = "[OPTION...]",
	.description = "Watches the daemons of a file system on this host from inside the "
		       "kernel, until it is stopped. It records FUSE requests, what a client's "
		       "daemon does for each, the requests that it sends to servers, what a "
		       "server's daemon does for each, its file operations, and the requests "
		       "that reach the disks. It also watches daemons that are started later. "
		       "It does not record the data itself.\n\n"
		       "Record the program with 'limpet stack run' on its host, attach on the "
		       "servers, and give all archives to 'limpet stack show', which joins the "
		       "calls of the program with what they became. Give each host a name of "
		       "its own (--name). The command needs root and a kernel with BTF.",
	.examples = examples,
	.options = options,
	.options_size = sizeof(struct attach_options),
	.run = run,
};
