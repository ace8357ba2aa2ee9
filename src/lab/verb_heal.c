#include "cli/command.h"
#include "lab/fault_options.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct option_def options[] = {
	{"on", 0, OPTION_STRING, FAULT_OPTIONS_AT(on), "SERVER", "heal only this server [all]"},
	FAULT_OPTIONS,
	{NULL},
};

/* Heal one fault on the given servers; fault NULL: all faults. */
static int heal_on(
	const struct lab *lab, const struct fault *fault, const char *on, struct lp_err *err)
{
	int worst = 0;

	for (const struct fault *const *f = faults; *f; f++) {
		struct fault_spec s = {.fault = *f};
		int r;

		if (fault && fault != *f)
			continue;
		snprintf(s.on, sizeof(s.on), "%s", on);
		r = fault_heal(lab, &s, worst ? NULL : err);
		worst = worst ? worst : r;
	}
	return worst;
}

static int heal_everywhere(const struct lab *lab, const struct fault *fault, struct lp_err *err)
{
	int worst = 0;

	for (unsigned i = 0; i < lab->config.n_servers; i++) {
		int r = heal_on(lab, fault, lab_server(lab, i)->name, worst ? NULL : err);

		worst = worst ? worst : r;
	}
	return worst;
}

/* Each argument is a fault, on its own server, on those of --on, or on all. */
static int heal_named(const struct lab *lab, int n_args, char **args,
	const struct fault_options *opt, struct lp_err *err)
{
	for (int i = 0; i < n_args; i++) {
		struct fault_spec s;
		int r = fault_options_spec(args[i], opt, &s, err);

		if (r == 0)
			r = *s.on ? fault_heal(lab, &s, err) : heal_everywhere(lab, s.fault, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int heal(const struct lab *lab, int n_args, char **args, const struct fault_options *opt,
	struct lp_err *err)
{
	const struct lab_node *node = opt->on ? lab_node(lab, opt->on) : NULL;

	if (opt->on && (!node || node->role != LAB_SERVER))
		return lp_err_set(err, -EINVAL, "the lab %s has no server '%.16s': want s1 to s%u",
			lab->config.name, opt->on, lab->config.n_servers);
	if (n_args)
		return heal_named(lab, n_args, args, opt, err);
	return node ? heal_on(lab, NULL, node->name, err) : fault_heal_all(lab, err);
}

/* The faults that were active and are not any more. */
static void print_text(const struct lab *lab, const struct fault_spec *before, unsigned n_before)
{
	struct fault_spec after[FAULT_ACTIVE_MAX];
	unsigned n_after = fault_active(lab, after, FAULT_ACTIVE_MAX), n = 0;

	for (unsigned i = 0, k = 0; i < n_before; i++) {
		/* Both are in the same order. */
		if (k < n_after && after[k].fault == before[i].fault &&
			!strcmp(after[k].on, before[i].on)) {
			k++;
			continue;
		}
		printf("%s: %s is healed\n", before[i].on, before[i].fault->name);
		n++;
	}
	if (!n)
		printf("no such fault was active\n");
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct fault_options *opt = values;
	struct fault_spec before[FAULT_ACTIVE_MAX];
	unsigned n_before = 0;
	struct lab lab;
	int r = fault_options_load(opt, &lab, err);

	(void)data;
	if (r == 0) {
		n_before = fault_active(&lab, before, FAULT_ACTIVE_MAX);
		r = heal(&lab, n_args, args, opt, err);
	}
	if (r == 0 && opt->json)
		r = fault_options_print_json(&lab, err);
	else if (r == 0)
		print_text(&lab, before, n_before);
	return command_exit_code(r);
}

static const struct example examples[] = {
	{"lab heal", "undo every fault on every server"},
	{"lab heal disk-hog --on s3", "undo only this fault"},
	{NULL, NULL},
};

extern const struct command lab_verb_heal;
const struct command lab_verb_heal = {
	.name = "lab heal",
	.summary = "undo what 'lab inject' did",
	.usage = "[OPTION...] [FAULT[@SERVER]...]",
	.description =
		"Heals all faults, or the given ones, on all servers or on one. It looks for "
		"faults wherever they could be, not only for those that are noted as active, so "
		"you can run it repeatedly, and after a crash. It ignores a strength after the "
		"name of a FAULT.",
	.options = options,
	.options_size = sizeof(struct fault_options),
	.examples = examples,
	.run = run,
};
