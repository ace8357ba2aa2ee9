/* Questions about roles. */
#ifndef MODEL_METRIC_ROLE_H
#define MODEL_METRIC_ROLE_H

#include <limpet/metric.h>

/* Is it the duration of requests or calls, so that more is slower? */
static inline bool role_is_time(enum lp_role role)
{
	return role == LP_ROLE_LATENCY || role == LP_ROLE_SERVICE;
}

/* The same, or how busy something is: load may explain it. */
static inline bool role_is_slowness(enum lp_role role)
{
	return role_is_time(role) || role == LP_ROLE_BUSY;
}

/* Is its worse side harmful? If not, it is only evidence: a disk that is busier than its peers, or
 * differs in a metric of unknown meaning, may be the better one. */
static inline bool role_is_harm(enum lp_role role)
{
	return role != LP_ROLE_OTHER && role != LP_ROLE_BUSY;
}

/* Is less worse? */
static inline bool role_is_worse_below(enum lp_role role)
{
	return role == LP_ROLE_WINDOW || role == LP_ROLE_YIELD;
}

#endif
