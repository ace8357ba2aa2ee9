#include "cli/command.h"
#include "lab/lab.h"
#include <errno.h>
#include <stdio.h>

struct down_options {
	const char *name;
	bool all;
};

#define AT(member) offsetof(struct down_options, member)

static const struct option_def options[] = {
	{"name", 'n', OPTION_STRING, AT(name), "NAME", "name of the lab [lab]"},
	{"all", 'a', OPTION_FLAG, AT(all), NULL,
		"remove all labs in /run/limpet/lab, or in $LIMPET_LAB_DIR"},
	{NULL},
};

static int remove_one(const char *name, void *ctx, struct lp_err *err)
{
	char text[512];
	int r = lab_down(name, err);

	(void)ctx;
	if (r < 0)
		return r;
	lab_foreign(name, text, sizeof(text));
	if (*text)
		fprintf(stderr, "limpet lab down: %s\n", text);
	printf("lab '%s' is gone\n", name);
	return 0;
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct down_options *opt = values;
	unsigned n;
	int r;

	(void)data;
	if (n_args)
		r = lp_err_set(err, -EINVAL,
			"unexpected argument '%s' (see 'limpet help lab down')", args[0]);
	else if (opt->all && opt->name)
		r = lp_err_set(err, -EINVAL, "give --name or --all, not both");
	else
		r = opt->all ? lab_each(remove_one, NULL, &n, err)
			     : remove_one(opt->name ? opt->name : LAB_DEFAULT_NAME, NULL, err);
	return command_exit_code(r);
}

static const struct example examples[] = {
	{"lab down", "remove the lab that 'limpet lab up' has made"},
	{"lab down --all", "remove all labs"},
	{NULL, NULL},
};

extern const struct command lab_verb_down;
const struct command lab_verb_down = {
	.name = "lab down",
	.summary = "remove a lab",
	.usage = "[OPTION...]",
	.description =
		"Removes everything that belongs to a lab: processes, mounts, disks, control "
		"groups, network namespaces and its directory with the logs. It also works "
		"after a crash, and does nothing if there is no such lab. It does not remove "
		"things that carry the lab's name but do not belong to it; it reports them.\n\n"
		"The exit status is 0 if nothing of the lab is left, 2 if something is left; "
		"then run the same command again.",
	.options = options,
	.options_size = sizeof(struct down_options),
	.examples = examples,
	.run = run,
};
