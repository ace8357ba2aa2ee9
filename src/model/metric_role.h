/* What roles have in common. */
#ifndef MODEL_METRIC_ROLE_H
#define MODEL_METRIC_ROLE_H

#include <limpet/metric.h>

/* Is it about time that requests or calls take: more is slower? */
static inline bool role_is_time(enum lp_role role)
{
	return role == LP_ROLE_LATENCY || role == LP_ROLE_SERVICE;
}

/* The same, or about how busy something is: load may explain it. */
static inline bool role_is_slowness(enum lp_role role)
{
	return role_is_time(role) || role == LP_ROLE_BUSY;
}

#endif
