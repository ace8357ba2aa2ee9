#include "cli/command.h"
#include "cli/data_options.h"

#include "base/cleanup.h"
#include "base/words.h"
#include "report/listing.h"
#include "report/values.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct show_options {
	struct option_list components, metrics;
	int64_t since_us, until_us, interval_us;
	bool values, csv, json, raw;
};

#define AT(member) offsetof(struct show_options, member)

static const struct option_def options[] = {
	{"components", 'c', OPTION_LIST, AT(components), "GLOB",
		"only components whose full name matches, e.g. '*/disk:sd*'; may be repeated "
		"[all]"},
	{"metric", 'm', OPTION_LIST, AT(metrics), "NAME",
		"show the values of this metric; may be repeated or a list with commas"},
	{"values", 0, OPTION_FLAG, AT(values), NULL, "show the values of all metrics"},
	{"raw", 0, OPTION_FLAG, AT(raw), NULL,
		"metrics are the raw columns of the archive (rd_ios, ...), as they were counted"},
	{"since", 0, OPTION_TIME, AT(since_us), "TIME", "from this time on (2011-05-09T00:00:05Z)"},
	{"until", 0, OPTION_TIME, AT(until_us), "TIME", "up to this time"},
	{"interval", 'i', OPTION_SPAN, AT(interval_us), "SPAN",
		"put values on a grid of this step; all work between is counted [that of the "
		"data]"},
	{"csv", 0, OPTION_FLAG, AT(csv), NULL,
		"values as CSV: time,component,metric,value (which limpet reads again)"},
	{"json", 0, OPTION_FLAG, AT(json), NULL, "print JSON"},
	{NULL},
};

static int nobody_matches(const struct lp_table_options *range, struct lp_err *err)
{
	return lp_err_set(err, -ENOENT, "no component matches '%s'%s%s", range->components[0],
		range->n_components > 1 ? " or the others" : "",
		range->from_us || range->to_us ? " in that time" : "");
}

/* Every metric that was asked for must be there. */
static int tables_complete(const struct words *names, const struct lp_table_options *range,
	struct lp_table *const *tables, uint32_t n, struct lp_err *err)
{
	if (!n && !names->n && range->components)
		return nobody_matches(range, err);
	for (unsigned i = 0; i < names->n; i++) {
		bool found = false;

		for (uint32_t t = 0; t < n; t++)
			found |= !strcmp(tables[t]->metric, names->items[i]);
		if (!found)
			return lp_err_set(err, -ENOENT,
				"no selected component has a metric '%s'%s ('limpet show DATA' "
				"lists what there is)",
				names->items[i],
				range->from_us || range->to_us ? " in that time" : "");
	}
	return 0;
}

static int print_tables(const struct show_options *opt, struct lp_table *const *tables, uint32_t n,
	struct lp_err *err)
{
	if (opt->json)
		return values_print_json(stdout, tables, n, err);
	if (opt->csv)
		return values_print_csv(stdout, tables, n, err);
	return values_print_text(stdout, tables, n, isatty(STDOUT_FILENO), err);
}

static int show_values(struct lp_dataset *ds, const struct show_options *opt,
	const struct lp_table_options *range, struct lp_err *err)
{
	_cleanup_(words_release) struct words names = {0};
	struct lp_table_options table_opt = *range;
	struct lp_table **tables = NULL;
	struct lp_err print_err = {0};
	uint32_t n = 0;
	int r = words_split(&opt->metrics, &names, err), printed;

	if (r < 0)
		return r;
	table_opt.metrics = names.n ? names.items : NULL;
	table_opt.n_metrics = names.n;
	table_opt.step_us = opt->interval_us;
	table_opt.raw = opt->raw;
	r = lp_dataset_tables(ds, &table_opt, &tables, &n, err);
	if (r < 0 && r != -EBADMSG)
		return r;
	printed = tables_complete(&names, range, tables, n, &print_err);
	if (printed == 0)
		printed = print_tables(opt, tables, n, &print_err);
	for (uint32_t i = 0; i < n; i++)
		lp_table_free(tables[i]);
	free(tables);
	if (r == 0 && printed < 0)
		*err = print_err;
	return r < 0 ? r : printed;
}

static int show_listing(struct lp_dataset *ds, const struct show_options *opt,
	const struct lp_table_options *range, struct lp_err *err)
{
	struct listing l = {0};
	int r = listing_make(ds, range, &l, err);

	if (r < 0 && r != -EBADMSG)
		return r;
	if (r < 0 && !l.n_components) {
		listing_release(&l); /* nothing good was found: the error says it all */
		return r;
	}
	if (!l.n_components && range->components) {
		listing_release(&l);
		return nobody_matches(range, err);
	}
	if (opt->json)
		listing_print_json(stdout, &l);
	else
		listing_print_text(stdout, &l, isatty(STDOUT_FILENO));
	listing_release(&l);
	return r;
}

DEFINE_CLEANUP(struct lp_dataset *, lp_dataset_close);

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct show_options *opt = values;
	_cleanup_(lp_dataset_closep) struct lp_dataset *ds = NULL;
	struct lp_warn warn = {.warn = data_print_warning};
	struct lp_table_options range = {
		.components = opt->components.n ? opt->components.items : NULL,
		.n_components = opt->components.n,
		.from_us = opt->since_us,
		.to_us = opt->until_us};
	int r = 0;

	if (opt->until_us && opt->until_us <= opt->since_us)
		r = lp_err_set(err, -EINVAL, "--until must be later than --since");
	if (r == 0)
		r = data_open(data, args, n_args, &warn, &ds, err);
	if (r < 0)
		return command_exit_code(r);
	if (opt->metrics.n || opt->values || opt->csv || opt->raw)
		r = show_values(ds, opt, &range, err);
	else
		r = show_listing(ds, opt, &range, err);
	return command_exit_code(r);
}

static const struct example examples[] = {
	{"show /var/lib/limpet", "what is there: components, times, gaps, means"},
	{"show -m await -m %util -c '*/disk:*' --since 2011-05-09 DATA", "values in columns"},
	{"show --csv -m await /var/log/sysstat/sa15", "straight from a sysstat file"},
	{"show --raw -m rd_ios,wr_ios --interval 1m DATA", "counters as they were recorded"},
	{NULL, NULL},
};

extern const struct command command_show;
const struct command command_show = {
	.name = "show",
	.summary = "list what data holds, or print its values",
	.usage = "[OPTION...] DATA...",
	.description =
		"DATA is an archive, a directory of archives, or anything that limpet imports (a "
		"sysstat file, CSV); several of them land on one time grid.\n\n"
		"Without --metric or --values it lists observers with their time spans and gaps, "
		"components with the names that stay, and the mean of the most telling metrics. "
		"With "
		"them it prints values: a line a time and component, CSV or JSON.",
	.options = options,
	.options_size = sizeof(struct show_options),
	.takes_data = true,
	.examples = examples,
	.run = run,
};
