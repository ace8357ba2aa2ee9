#include "base/cleanup.h"
#include "cli/command.h"
#include "lab/fault_options.h"
#include "report/grid.h"
#include <errno.h>
#include <jansson.h>
#include <string.h>

static const struct option_def options[] = {
	{"on", 0, OPTION_STRING, FAULT_OPTIONS_AT(on), "SERVER",
		"break this server, s1, s2, ..., unless the FAULT names one"},
	{"list", 0, OPTION_FLAG, FAULT_OPTIONS_AT(list), NULL,
		"list all faults and the meanings of their strengths"},
	FAULT_OPTIONS,
	{NULL},
};

static int list_faults(struct lp_err *err)
{
	_cleanup_(grid_release) struct grid g;

	grid_init(&g, 4);
	grid_add(&g, "fault");
	grid_add(&g, "strength");
	grid_add(&g, "default");
	grid_add(&g, "what happens to the server");
	for (const struct fault *const *f = faults; *f; f++) {
		grid_add(&g, (*f)->name);
		if ((*f)->strength) {
			grid_addf(&g, "%g-%g %s", (*f)->strength_min, (*f)->strength_max,
				(*f)->strength);
			grid_addf(&g, "%g", (*f)->strength_default);
		} else {
			grid_add(&g, "-");
			grid_add(&g, "-");
		}
		grid_add(&g, (*f)->summary);
	}
	grid_print(&g, stdout, isatty(STDOUT_FILENO));
	return g.failed ? lp_err_sys(err, -ENOMEM, "cannot list faults") : 0;
}

static int list_faults_json(struct lp_err *err)
{
	json_t *all = json_array();
	json_auto_t *root = json_pack("{s:o}", "faults", all);

	for (const struct fault *const *f = faults; *f; f++) {
		json_t *o = json_pack("{s:s,s:s,s:s}", "fault", (*f)->name, "summary",
			(*f)->summary, "diagnosis", (*f)->diagnosis);

		if ((*f)->strength)
			json_object_update_new(o,
				json_pack("{s:s,s:f,s:f,s:f}", "strength", (*f)->strength,
					"default", (*f)->strength_default, "min",
					(*f)->strength_min, "max", (*f)->strength_max));
		json_array_append_new(all, o);
	}
	if (!root || json_dumpf(root, stdout, JSON_INDENT(2)) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot list faults");
	putchar('\n');
	return 0;
}

/* Inject all of them, or none. */
static int inject_all(
	const struct lab *lab, const struct fault_spec *specs, unsigned n, struct lp_err *err)
{
	for (unsigned i = 0; i < n; i++) {
		int r = fault_inject(lab, &specs[i], err);

		if (r == 0)
			continue;
		while (i--)
			fault_heal(lab, &specs[i], NULL);
		return r;
	}
	return 0;
}

static int read_specs(int n_args, char **args, const struct fault_options *opt,
	struct fault_spec *ret, struct lp_err *err)
{
	int r = 0;

	if (n_args > FAULT_ACTIVE_MAX)
		return lp_err_set(err, -EINVAL, "more than %d faults", FAULT_ACTIVE_MAX);
	for (int i = 0; r == 0 && i < n_args; i++)
		r = fault_options_spec(args[i], opt, &ret[i], err);
	return r;
}

static void print_text(const struct fault_spec *specs, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const struct fault *f = specs[i].fault;

		printf("%s: %s", specs[i].on, f->name);
		if (f->strength)
			printf(" (%s: %g)", f->strength, specs[i].strength);
		printf(" is active: %s\n", f->summary);
	}
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct fault_options *opt = values;
	struct fault_spec specs[FAULT_ACTIVE_MAX];
	struct lab lab;
	int r;

	(void)data;
	if (n_args < 1 || opt->list)
		return command_exit_code(opt->json ? list_faults_json(err) : list_faults(err));
	r = read_specs(n_args, args, opt, specs, err);
	if (r == 0)
		r = fault_options_load(opt, &lab, err);
	if (r == 0)
		r = inject_all(&lab, specs, (unsigned)n_args, err);
	if (r == 0 && opt->json)
		r = fault_options_print_json(&lab, err);
	else if (r == 0)
		print_text(specs, (unsigned)n_args);
	return command_exit_code(r);
}

static const struct example examples[] = {
	{"lab inject --list", "list all faults"},
	{"lab inject disk-hog --on s3",
		"let a process on server 3 read from its disk as fast as it can"},
	{"lab inject slow-disk:2 --on s1",
		"let the disk of server 1 take twice as long for everything"},
	{"lab inject disk-busy@s2 send-pktloss:3@s5", "break two servers at once"},
	{NULL, NULL},
};

extern const struct command lab_verb_inject;
const struct command lab_verb_inject = {
	.name = "lab inject",
	.summary = "break a server of a lab",
	.usage = "[OPTION...] [FAULT[:STRENGTH][@SERVER]...]",
	.description =
		"Injects faults into servers of a lab that is up, and returns when each of them "
		"has been verified to be active. They stay until 'limpet lab heal'. If one of "
		"them cannot be injected, none is.\n\n"
		"STRENGTH is a number whose meaning depends on the fault, such as a percentage "
		"of packets or a factor. The list has its meaning, limits and default for each "
		"fault; --list prints it, and so does the command without a FAULT. SERVER is "
		"s1, s2, ...; it stands after '@', or in --on for all faults.",
	.options = options,
	.options_size = sizeof(struct fault_options),
	.examples = examples,
	.run = run,
};
