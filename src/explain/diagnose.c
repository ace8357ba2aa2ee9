#include <limpet/diagnose.h>

#include "base/cleanup.h"
#include "detect/detect.h"
#include "explain/explain.h"
#include "explain/semantic_join.h"
#include "explain/status.h"
#include "import/dataset.h"
#include <errno.h>
#include <limpet/metric.h>
#include <stdlib.h>
#include <string.h>

/* Everything that a diagnosis opens, released in one place. */
struct diagnosis {
	const struct lp_diagnose_options *opt;
	struct topology *topology;
	struct thresholds *trained;
	struct fixed_thresholds fixed;
	struct operator_state *state;
	struct inventory expected;
	struct hosts hosts;
	struct detect_options detect;
	struct semantic semantic; /* what the logs of system calls say */
};

static void diagnosis_release(struct diagnosis *d)
{
	semantic_release(&d->semantic);
	state_close(d->state);
	inventory_release(&d->expected);
	hosts_release(&d->hosts);
	fixed_thresholds_release(&d->fixed);
	thresholds_free(d->trained);
	topology_free(d->topology);
}

static int method_find(struct diagnosis *d, struct lp_err *err)
{
	const char *name = d->opt->method;

	if (!name)
		return 0; /* the engine knows which */
	d->detect.measure = measure_find(name);
	return d->detect.measure ? 0 : lp_err_set(err, -EINVAL, "there is no method '%.64s'", name);
}

/* Once it is known how all else is compared. */
static int service_method_find(struct diagnosis *d, struct lp_err *err)
{
	const struct measure *measure = d->detect.measure;

	if (!measure)
		measure = measure_find(d->trained ? thresholds_method(d->trained) : "cdf");
	return service_method_parse(d->opt->service_method, measure, &d->detect.service, err);
}

static int diagnosis_open(struct diagnosis *d, struct lp_err *err)
{
	const struct lp_diagnose_options *o = d->opt;
	int r = method_find(d, err);

	if (r == 0 && o->topology)
		r = topology_read(o->topology, &d->topology, err);
	if (r == 0 && o->thresholds)
		r = thresholds_read(o->thresholds, &d->trained, err);
	if (r == 0)
		r = service_method_find(d, err);
	if (r == 0)
		r = fixed_thresholds_parse(o->fixed, o->n_fixed, &d->fixed, err);
	if (r == 0 && o->state)
		r = state_open(o->state, true, &d->state, err);
	if (r == 0 && o->expect)
		r = inventory_read(o->expect, &d->expected, err);
	return r;
}

static void detection_set(struct diagnosis *d)
{
	const struct lp_diagnose_options *o = d->opt;
	struct detect_options *to = &d->detect;

	to->params = o->params;
	to->trained = d->trained;
	to->fixed = &d->fixed;
	to->topology = d->topology;
	/* Who names components, or says which are peers, wants to see these. */
	to->hosts = o->n_components || topology_has_groups(d->topology) ? NULL : &d->hosts;
	to->split_by = o->split_by;
	to->n_split = o->n_split;
	to->groups = o->groups;
	to->n_groups = o->n_groups;
	to->warn = o->warn;
	to->progress = o->progress;
	to->progress_ctx = o->progress_ctx;
}

/* The step of the grid: what was asked for, what was trained with, or what suits the data. */
static int step_choose(
	const struct diagnosis *d, struct lp_dataset *ds, int64_t *ret_us, struct lp_err *err)
{
	const struct lp_diagnose_options *o = d->opt;
	int64_t interval = 0, first = 0, last = 0;
	int r;

	*ret_us = o->params.step_us;
	if (!*ret_us && d->trained)
		*ret_us = thresholds_params(d->trained)->step_us;
	if (*ret_us)
		return 0;
	r = lp_dataset_interval(ds, &interval, err);
	if (r == 0)
		r = lp_dataset_span(ds, &first, &last, err);
	if (r < 0)
		return r;
	if (o->from_us > first)
		first = o->from_us;
	if (o->to_us && o->to_us < last)
		last = o->to_us;
	*ret_us = detect_step(interval, last > first ? last - first : 0);
	return 0;
}

/* Is the component in one of the groups that were asked for? Only these need to be read, where
 * groups do not depend on the data. */
static bool group_wanted(void *ctx, const struct lp_identity *component)
{
	const struct detect_options *o = &((struct diagnosis *)ctx)->detect;
	struct lp_identity *alone[] = {(struct lp_identity *)component};
	struct lp_peer_group *groups = NULL;
	uint32_t n = 0;
	bool wanted = false;

	/* What goes wrong here is told when all of them are sorted. */
	if (topology_groups(
		    o->topology, alone, 1, o->split_by, o->n_split, NULL, &groups, &n, NULL) < 0)
		return true;
	for (uint32_t i = 0; i < n; i++)
		wanted |= detect_group_wanted(o, groups[i].name);
	lp_peer_groups_free(groups, n);
	return wanted;
}

static void progress_reading(void *ctx, double done)
{
	const struct lp_diagnose_options *o = ((struct diagnosis *)ctx)->opt;

	if (o->progress)
		o->progress(o->progress_ctx, "reading", done);
}

static bool is_known_metric(const char *name)
{
	for (const struct lp_metric *const *m = lp_metric_all(); *m; m++) {
		if (!strcmp((*m)->name, name))
			return true;
	}
	return false;
}

/* There is nothing to compare. That is a verdict (cannot tell), unless what was asked for is
 * neither in the data nor anything that limpet knows. */
static int nothing_there(const struct lp_diagnose_options *o, struct lp_err *err)
{
	for (uint32_t i = 0; i < o->n_metrics; i++) {
		if (!is_known_metric(o->metrics[i]))
			return lp_err_set(err, -ENOENT,
				"there is nothing to compare: no component has a metric '%s'%s",
				o->metrics[i], o->from_us || o->to_us ? " in that time" : "");
	}
	return 0;
}

/* Who asks for metrics or for groups wants to see comparisons. */
static bool logs_wanted(const struct lp_diagnose_options *o)
{
	return !o->n_metrics && !o->n_groups;
}

/* Errors, crashes and hangs in the logs of system calls, if there are any. */
static int logs_judge(struct diagnosis *d, struct lp_dataset *ds, struct lp_err *err)
{
	const struct lp_diagnose_options *o = d->opt;
	struct semantic_options how = {.hang_after_us = o->hang_after_us,
		.error_window_us = o->error_window_us,
		.from_us = o->from_us,
		.to_us = o->to_us,
		.trained = d->trained,
		.warn = o->warn};

	return logs_wanted(o) ? semantic_diagnose(ds, &d->hosts, &how, &d->semantic, err) : 0;
}

/* As lp_dataset_tables(). Where nothing at all could be read there are no tables and no logs, and
 * the failure is returned. */
static int tables_read(struct diagnosis *d, struct lp_dataset *ds, struct lp_table ***ret,
	uint32_t *ret_n, struct lp_err *err)
{
	const struct lp_diagnose_options *o = d->opt;
	struct lp_table_options range = {.components = o->n_components ? o->components : NULL,
		.n_components = o->n_components,
		.metrics = o->n_metrics ? o->metrics : NULL,
		.n_metrics = o->n_metrics,
		.judged = true,
		.from_us = o->from_us,
		.to_us = o->to_us,
		.progress = progress_reading,
		.progress_ctx = d};
	struct lp_table **tables = NULL;
	uint32_t n = 0;
	int r = step_choose(d, ds, &range.step_us, err);

	if (r < 0)
		return r;
	if (o->n_groups && topology_has_groups(d->topology)) {
		range.wanted = group_wanted;
		range.wanted_ctx = d;
	}
	r = lp_dataset_tables(ds, &range, &tables, &n, err);
	if (r < 0 && r != -EBADMSG)
		return r;
	if (!n && !d->semantic.any && (r < 0 || nothing_there(o, err) < 0)) {
		free(tables);
		return err->code;
	}
	if (!tables)
		tables = calloc(1, sizeof(struct lp_table *));
	if (!tables)
		return lp_err_sys(err, -ENOMEM, "cannot read data");
	*ret = tables;
	*ret_n = n;
	return r;
}

DEFINE_CLEANUP(struct lp_verdict *, lp_verdict_free);

/* From tables, which are taken over, and what is known of the logs to a verdict. */
static int verdict_make(struct diagnosis *d, const struct lp_dataset *ds, struct lp_table **tables,
	uint32_t n, struct lp_verdict **ret, struct lp_err *err)
{
	const struct lp_diagnose_options *o = d->opt;
	const struct status_grounds grounds = {.options = o,
		.data = ds,
		.inventories = {
			d->expected.n ? &d->expected : NULL, topology_observers(d->topology)}};
	_cleanup_(lp_verdict_freep) struct lp_verdict *v = NULL;
	int r = detect_run(tables, n, &d->detect, &v, err);

	if (r == 0)
		r = semantic_join_components(v, &d->semantic, o->components, o->n_components, err);
	if (r == 0)
		r = explain_verdict(v, d->topology, &d->hosts, d->state, &d->semantic, err);
	if (r == 0)
		r = status_judge(v, &grounds, err);
	if (r == 0)
		*ret = TAKE_PTR(v);
	return r;
}

int lp_diagnose(struct lp_dataset *ds, const struct lp_diagnose_options *options,
	struct lp_verdict **ret, struct lp_err *err)
{
	_cleanup_(diagnosis_release) struct diagnosis d = {.opt = options};
	struct lp_table **tables = NULL;
	struct lp_err here = {0};
	uint32_t n = 0;
	int r = diagnosis_open(&d, err), logs = 0, compared;

	if (r == 0)
		r = dataset_hosts(ds, &d.hosts, err);
	if (r == 0)
		logs = logs_judge(&d, ds, err);
	if (r < 0 || (logs < 0 && logs != -EBADMSG))
		return r < 0 ? r : logs;
	detection_set(&d);
	r = tables_read(&d, ds, &tables, &n, &here);
	if (r < 0)
		*err = here;
	if (!tables)
		return r;
	here = (struct lp_err){0};
	compared = verdict_make(&d, ds, tables, n, ret, &here);
	if (compared < 0)
		*err = here;
	return compared < 0 ? compared : r < 0 ? r : logs;
}
