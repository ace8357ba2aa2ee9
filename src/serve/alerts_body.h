/* The messages about an incident: for Alertmanager, for a webhook, for a command. */
#ifndef SERVE_ALERTS_BODY_H
#define SERVE_ALERTS_BODY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* The labels that identify an alert in Alertmanager. */
json_t *alert_labels(const json_t *incident);

/* One alert of Alertmanager's API v2. `labels` stays with the caller. `ends_us`: the alert fires
 * until then unless it is sent again; now, if it is over. */
json_t *alert_manager(
	const json_t *incident, const json_t *labels, const char *page, int64_t ends_us);

/* An alert without an incident: ends the alert with these labels. */
json_t *alert_manager_over(const json_t *labels, int64_t now_us);

/* {"change", "incident", "link", "limpet", "time"} for webhooks and commands. */
json_t *alert_webhook(const json_t *incident, const char *change, const char *page, int64_t now_us);

/* An example incident, for testing targets. */
json_t *alert_example(int64_t now_us);

/* All of these return NULL if memory runs out. */

#endif
