#include "engine/setup.h"

#include "base/meant.h"
#include "model/table_builder.h"
#include <errno.h>

void setup_release(struct setup *s)
{
	hosts_release(&s->hosts);
	inventory_release(&s->expected);
	fixed_thresholds_release(&s->fixed);
	meanings_release(&s->meanings);
	thresholds_free(s->trained);
	topology_free(s->topology);
	*s = (struct setup){0};
}

static int method_unknown(const char *name, struct lp_err *err)
{
	struct meant m = {.word = name};

	for (const struct measure *const *i = measures; *i; i++)
		meant_consider(&m, (*i)->name);
	return lp_err_set(err, -EINVAL, "there is no method '%.64s'%s", name, meant_question(&m));
}

static int method_find(struct setup *s, struct lp_err *err)
{
	const char *name = s->opt->method;

	if (!name)
		return 0; /* detect_methods() decides */
	s->detect.measure = measure_find(name);
	return s->detect.measure ? 0 : method_unknown(name, err);
}

/* Call this when the method for all other metrics is known. */
static int service_method_find(struct setup *s, struct lp_err *err)
{
	const struct measure *measure = s->detect.measure;

	if (!measure)
		measure = measure_find(s->trained ? thresholds_method(s->trained) : "cdf");
	return service_method_parse(s->opt->service_method, measure, &s->detect.service, err);
}

static void detection_set(struct setup *s)
{
	const struct lp_diagnose_options *o = s->opt;
	struct detect_options *to = &s->detect;

	to->params = o->params;
	to->by_spread = !options_are_plain(o);
	to->trained = s->trained;
	to->fixed = &s->fixed;
	to->warn_at = o->warn_at > 0 ? o->warn_at : 1;
	to->meanings = &s->meanings;
	to->asked = o->metrics;
	to->n_asked = o->n_metrics;
	to->topology = s->topology;
	/* A user who names components, or defines peers, wants to see those. */
	to->hosts = o->n_components || topology_has_groups(s->topology) ? NULL : &s->hosts;
	to->split_by = o->split_by;
	to->n_split = o->n_split;
	to->groups = o->groups;
	to->n_groups = o->n_groups;
	to->warn = o->warn;
	to->progress = o->progress;
	to->progress_ctx = o->progress_ctx;
}

int setup_open(struct setup *s, const struct lp_diagnose_options *opt, struct lp_err *err)
{
	int r;

	*s = (struct setup){.opt = opt};
	r = method_find(s, err);
	if (r == 0 && opt->topology)
		r = topology_read(opt->topology, &s->topology, err);
	if (r == 0)
		r = topology_attributes_check(s->topology, opt->split_by, opt->n_split, err);
	if (r == 0 && opt->thresholds)
		r = thresholds_read(opt->thresholds, &s->trained, err);
	if (r == 0)
		r = service_method_find(s, err);
	if (r == 0)
		r = fixed_thresholds_parse(opt->fixed, opt->n_fixed, &s->fixed, err);
	if (r == 0 && s->trained)
		r = meanings_copy(&s->meanings, thresholds_meant(s->trained), err);
	if (r == 0) /* the options of this call have precedence */
		r = meanings_parse(&s->meanings, opt->worse, opt->n_worse, err);
	if (r == 0 && opt->expect)
		r = inventory_read(opt->expect, &s->expected, err);
	if (r < 0)
		return r;
	detection_set(s);
	return detect_methods(&s->detect, err);
}

bool options_are_plain(const struct lp_diagnose_options *opt)
{
	const struct lp_params *p = &opt->params;

	return opt->method || opt->service_method || opt->thresholds || opt->n_fixed || p->smooth ||
		p->win_size || p->win_shift || p->k || p->step_us;
}

/* Is the component in one of the selected groups? If groups do not depend on the data, only these
 * components have to be read. */
static bool group_wanted(void *ctx, const struct lp_identity *component)
{
	const struct detect_options *o = &((struct setup *)ctx)->detect;
	struct lp_identity *alone[] = {(struct lp_identity *)component};
	struct lp_peer_group *groups = NULL;
	uint32_t n = 0;
	bool wanted = false;

	/* Errors are reported later, when all components are sorted into groups. */
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
	const struct lp_diagnose_options *o = ((struct setup *)ctx)->opt;

	if (o->progress)
		o->progress(o->progress_ctx, "reading", done);
}

struct lp_table_options setup_table(struct setup *s)
{
	const struct lp_diagnose_options *o = s->opt;
	struct lp_table_options t = {.components = o->n_components ? o->components : NULL,
		.n_components = o->n_components,
		.metrics = o->n_metrics ? o->metrics : NULL,
		.n_metrics = o->n_metrics,
		.judged = true,
		.gaps = !options_are_plain(o),
		.from_us = o->from_us,
		.to_us = o->to_us,
		.progress = progress_reading,
		.progress_ctx = s};

	/* A collector of a large fleet has the machine to itself, and its spans limit the data that
	 * it keeps. */
	if (o->bounded)
		t.bytes_max = table_bytes_half();
	if (o->n_groups && topology_has_groups(s->topology)) {
		t.wanted = group_wanted;
		t.wanted_ctx = s;
	}
	return t;
}
