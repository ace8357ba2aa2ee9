/* Service times of system calls: which of two methods compares them. */
#ifndef DETECT_SERVICE_H
#define DETECT_SERVICE_H

#include "detect/compare/measure.h"
#include <limpet/err.h>

enum service_method {
	SERVICE_DEFAULT = 0, /* as in the training, else SERVICE_USUAL */
	SERVICE_SERIES,	     /* by the time-series method */
	SERVICE_MEASURE,     /* in windows, by the measure, like all other metrics */
};
#define SERVICE_USUAL SERVICE_SERIES

/* At least this many members of a group must have made calls: with two it is impossible to say
 * which one is slow. */
#define SERVICE_MEMBERS_LEAST 3

/* The name of a method for service times, "series" or that of a measure, and back; `measure` is the
 * one for all other metrics. NULL means SERVICE_DEFAULT. -EINVAL: the name is neither. */
int service_method_parse(const char *name, const struct measure *measure, enum service_method *ret,
	struct lp_err *err);
const char *service_method_name(enum service_method m, const struct measure *measure);

#endif
