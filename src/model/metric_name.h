/* The meaning of a metric, as far as its name shows it. */
#ifndef MODEL_METRIC_NAME_H
#define MODEL_METRIC_NAME_H

#include <limpet/metric.h>

/* The role of a metric by its name alone: by the words in it ("read_latency", "avgLat", "rd_ms"),
 * never by letters that are only part of another word ("cpu_usage", "uptime", "rx_msgs").
 * LP_ROLE_OTHER: the name says nothing. */
enum lp_role metric_name_role(const char *name);

#endif
