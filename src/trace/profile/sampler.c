/* The table of samplers, from the list in meson.build. */
#include "trace/profile/sampler.h"

#include <errno.h>
#include <string.h>

#define X(name) extern const struct sampler sampler_##name;
#include "trace/samplers.inc"
#undef X

const struct sampler *const samplers[] = {
#define X(name) &sampler_##name,
#include "trace/samplers.inc"
#undef X
	NULL,
};

const struct sampler *sampler_find(const char *name)
{
	for (const struct sampler *const *s = samplers; *s; s++) {
		if (!strcmp((*s)->name, name))
			return *s;
	}
	return NULL;
}

int sampler_open(const char *name, const struct sampler_config *config,
	const struct sampler **ret_sampler, void **ret_state, struct lp_err *why,
	struct lp_err *err)
{
	bool any = !name || !strcmp(name, "auto");
	struct lp_err first = {0}, last = {0};

	if (!any && !sampler_find(name))
		return lp_err_set(err, -EINVAL, "there is no sampler '%s' in this limpet", name);
	for (const struct sampler *const *s = samplers; *s; s++) {
		if (!any && strcmp((*s)->name, name) != 0)
			continue;
		if ((*s)->open(config, ret_state, &last) == 0) {
			*ret_sampler = *s;
			if (why && first.code)
				*why = first;
			return 0;
		}
		if (!first.code)
			first = last;
	}
	/* The reason of the last one: if even that does not work, no sampling does. */
	return lp_err_set(err, last.code, "%s", last.text);
}
