#include "lab/fault_options.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

int fault_options_load(const struct fault_options *opt, struct lab *ret, struct lp_err *err)
{
	return lab_load(opt->name ? opt->name : LAB_DEFAULT_NAME, ret, err);
}

int fault_options_spec(const char *text, const struct fault_options *opt, struct fault_spec *ret,
	struct lp_err *err)
{
	struct fault_spec s;
	int r = fault_parse(text, &s, err);

	if (r < 0)
		return r;
	if (opt->on && *s.on && strcmp(opt->on, s.on) != 0)
		return lp_err_set(err, -EINVAL, "%s is to be on %s, but --on says %.16s", text,
			s.on, opt->on);
	if (opt->on && strlen(opt->on) >= sizeof(s.on))
		return lp_err_set(
			err, -EINVAL, "--on: want a server (s1, s2, ...), not '%.16s'", opt->on);
	if (opt->on)
		snprintf(s.on, sizeof(s.on), "%s", opt->on);
	*ret = s;
	return 0;
}

static json_t *spec_json(const struct fault_spec *s)
{
	return json_pack("{s:s,s:s,s:o}", "fault", s->fault->name, "on", s->on, "strength",
		s->fault->strength ? json_real(s->strength) : json_null());
}

int fault_options_print_json(const struct lab *lab, struct lp_err *err)
{
	struct fault_spec active[FAULT_ACTIVE_MAX];
	unsigned n = fault_active(lab, active, FAULT_ACTIVE_MAX);
	json_t *list = json_array(), *all;
	int r;

	for (unsigned i = 0; i < n; i++)
		json_array_append_new(list, spec_json(&active[i]));
	all = json_pack("{s:s,s:o}", "lab", lab->config.name, "active", list);
	r = all ? json_dumpf(all, stdout, JSON_INDENT(2)) : -1;
	json_decref(all);
	if (r < 0)
		return lp_err_sys(err, -ENOMEM, "cannot print what is active");
	putchar('\n');
	return 0;
}
