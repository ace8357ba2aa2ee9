#include "detect/service.h"

#include <errno.h>
#include <string.h>

int service_method_parse(const char *name, const struct measure *measure, enum service_method *ret,
	struct lp_err *err)
{
	*ret = SERVICE_DEFAULT;
	if (!name)
		return 0;
	*ret = !strcmp(name, service_method_name(SERVICE_SERIES, measure)) ? SERVICE_SERIES
									   : SERVICE_MEASURE;
	if (*ret == SERVICE_SERIES || !strcmp(name, measure->name))
		return 0;
	return lp_err_set(err, -EINVAL,
		"service times are compared by 'series', or by '%s' like all other metrics; not by "
		"'%.64s'",
		measure->name, name);
}

const char *service_method_name(enum service_method m, const struct measure *measure)
{
	m = m == SERVICE_DEFAULT ? SERVICE_USUAL : m;
	return m == SERVICE_SERIES ? "series" : measure->name;
}
