#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/time_options.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "detect/detect.h"
#include "detect/group/discover.h"
#include "import/dataset.h"
#include "report/flow.h"
#include "report/json.h"
#include "report/topology.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Discovery uses long means, so finer steps would only take longer. */
#define STEP_MIN_US (15 * US_PER_SEC)

struct topology_options {
	const char *topology, *check;
	struct option_list components, split_by;
	struct time_options times;
	bool suggest, json;
};

#define AT(member) offsetof(struct topology_options, member)

static const struct option_def options[] = {
	{"topology", 't', OPTION_STRING, AT(topology), "FILE", "the topology file (YAML)"},
	{"suggest", 0, OPTION_FLAG, AT(suggest), NULL,
		"print a topology file to start from, made from the data"},
	{"check", 0, OPTION_STRING, AT(check), "FILE",
		"only verify this topology file; needs no DATA"},
	{"components", 'c', OPTION_LIST, AT(components), "GLOB",
		"only components whose full name matches; may be repeated [all]"},
	{"split-by", 0, OPTION_LIST, AT(split_by), "ATTRIBUTE",
		"also split groups by this attribute ('observer'); may be repeated"},
	TIME_OPTIONS(struct topology_options),
	{"json", 0, OPTION_FLAG, AT(json), NULL, "print JSON"},
	{NULL},
};

DEFINE_CLEANUP(struct lp_dataset *, lp_dataset_close);
DEFINE_CLEANUP(struct lp_verdict *, lp_verdict_free);
DEFINE_CLEANUP(struct topology *, topology_free);

static int print_json(json_t *json, struct lp_err *err)
{
	return json_print(stdout, json) < 0 ? lp_err_sys(err, -ENOMEM, "cannot make JSON") : 0;
}

static int check_file(const struct topology_options *opt, struct lp_err *err)
{
	_cleanup_(topology_freep) struct topology *t = NULL;
	int r = topology_read(opt->check, &t, err);
	const char *name;

	if (r < 0)
		return r;
	if (opt->json)
		return print_json(json_pack("{s:s,s:b}", "file", opt->check, "sound", true), err);
	flow_print_safe(stdout, opt->check);
	printf(": valid; attributes:");
	for (size_t i = 0; (name = topology_attribute_name(t, i)); i++) {
		putchar(' ');
		flow_print_safe(stdout, name);
	}
	printf("%s; parts:", topology_attribute_name(t, 0) ? "" : " none");
	for (const char *const *p = topology_parts(t); *p; p++) {
		putchar(' ');
		flow_print_safe(stdout, *p);
	}
	putchar('\n');
	return 0;
}

/* The tables that discovery needs, and the names of all components. -EBADMSG: the intact data was
 * read. */
static int tables_read(struct lp_dataset *ds, const struct topology_options *opt,
	const struct topology *t, struct lp_verdict *v, struct lp_err *err)
{
	_cleanup_(hosts_release) struct hosts hosts = {0};
	/* Pool connections like diagnose; a topology file is about single ones. */
	bool pool = !opt->suggest && !opt->components.n && !topology_has_groups(t);
	struct lp_table_options table_opt = {.judged = true, /* as in diagnose */
		.components = opt->components.n ? opt->components.items : NULL,
		.n_components = opt->components.n,
		.from_us = opt->times.since_us,
		.to_us = opt->times.until_us};
	struct lp_table **tables = NULL;
	uint32_t n = 0;
	int r, taken;

	r = lp_dataset_interval(ds, &table_opt.step_us, err);
	if (r == 0)
		r = dataset_hosts(ds, &hosts, err);
	if (r < 0)
		return r;
	if (table_opt.step_us < STEP_MIN_US)
		table_opt.step_us = STEP_MIN_US;
	r = lp_dataset_tables(ds, &table_opt, &tables, &n, err);
	if (r < 0 && r != -EBADMSG)
		return r;
	taken = verdict_take_tables(v, tables, n, pool ? &hosts : NULL, err);
	return taken < 0 ? taken : r;
}

static int groups_make(const struct topology_options *opt, const struct topology *t,
	struct lp_warn *warn, struct lp_verdict *v, struct lp_err *err)
{
	int r = topology_groups(t, v->components, v->n_components, opt->split_by.items,
		opt->split_by.n, warn, &v->groups, &v->n_groups, err);

	return r < 0 || t || opt->split_by.n ? r : discover_groups(v, NULL, err);
}

static int print(const struct topology_options *opt, const struct lp_verdict *v,
	const struct topology *t, struct lp_err *err)
{
	int r = 0;

	if (opt->suggest)
		r = topology_print_suggestion(stdout, v);
	else if (opt->json)
		return print_json(topology_json(v, t), err);
	else
		topology_print_text(stdout, v, t);
	return r < 0 ? lp_err_sys(err, r, "cannot print a topology") : 0;
}

static int usage_check(const struct topology_options *opt, struct lp_err *err)
{
	if (opt->suggest && (opt->topology || opt->split_by.n))
		return lp_err_set(err, -EINVAL,
			"--suggest makes a file from the data alone, without --topology and "
			"--split-by");
	if (opt->suggest && opt->json)
		return lp_err_set(
			err, -EINVAL, "--suggest prints YAML; without it --json prints the groups");
	return 0;
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	struct topology_options *opt = values;
	_cleanup_(lp_dataset_closep) struct lp_dataset *ds = NULL;
	_cleanup_(topology_freep) struct topology *t = NULL;
	_cleanup_(lp_verdict_freep) struct lp_verdict *v = calloc(1, sizeof(*v));
	struct lp_warn warn = {.warn = data_print_once};
	struct lp_err later = {0};
	int r = v ? usage_check(opt, err) : lp_err_sys(err, -ENOMEM, "cannot read"), read;

	if (r == 0 && opt->check)
		return command_exit_code(check_file(opt, err));
	if (r == 0 && opt->topology)
		r = topology_read(opt->topology, &t, err);
	if (r == 0)
		r = topology_attributes_check(t, opt->split_by.items, opt->split_by.n, err);
	if (r == 0)
		r = data_open(data, args, n_args, &warn, &ds, err);
	if (r == 0)
		r = time_options_settle(&opt->times, ds, err);
	if (r < 0)
		return command_exit_code(r);
	read = tables_read(ds, opt, t, v, err);
	if (read < 0 && read != -EBADMSG)
		return command_exit_code(read);
	r = groups_make(opt, t, &warn, v, &later);
	if (r == 0)
		r = print(opt, v, t, &later);
	if (read == 0 && r < 0)
		*err = later;
	return command_exit_code(read < 0 ? read : r);
}

static const struct example examples[] = {
	{"topology DATA", "which components are peers, and why"},
	{"topology --suggest DATA > site.yaml", "a file to start from"},
	{"topology --check site.yaml", "is the file valid?"},
	{"topology -t site.yaml DATA", "the groups and attributes that a file makes"},
	{NULL, NULL},
};

extern const struct command command_topology;
const struct command command_topology = {
	.name = "topology",
	.summary = "show peer groups and attributes, check or suggest a topology file",
	.usage = "[OPTION...] [DATA...]",
	.description =

		"Shows the peer groups, their components and what the topology file says about "
		"them, and the components that no rule matches.\n\n"
		"Without a topology file, components of one kind are peers. If their throughput "
		"shows that they do not behave as one group, limpet splits the group by observer "
		"or "
		"into classes of throughput, and says so. --suggest prints a file that makes the "
		"same groups: correct it, add the parts that components share, and pass it to "
		"'limpet diagnose --topology'. docs/topology.md describes the file.",
	.options = options,
	.options_size = sizeof(struct topology_options),
	.takes_data = true,
	.examples = examples,
	.run = run,
};
