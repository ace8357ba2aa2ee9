/* Alerts: reports incidents to the targets of the configuration, and retries until they are
 * delivered.
 *
 * A change of an incident is put into a queue per target, in the transaction that changes the
 * incident, so that neither a crash nor a target that is away loses one. A thread delivers the
 * queue of each target in order, and tries again with growing pauses. Alertmanager is also sent all
 * open incidents once per minute, since it considers an alert over if it is not repeated.
 */
#ifndef SERVE_ALERTS_H
#define SERVE_ALERTS_H

#include "serve/alerts_config.h"
#include "serve/incidents.h"

struct alerts;

/* Start. The store outlives it. `warn` is called by the thread. */
int alerts_start(const char *path, struct incidents *store, struct lp_warn *warn,
	struct alerts **ret, struct lp_err *err);
void alerts_stop(struct alerts *a);

/* An incident changed: call it within the store's transaction. */
void alerts_changed(struct alerts *a, enum incident_change change, const json_t *incident);

/* The number of alerts that wait for a target and its last error; NULL after the last target. */
const char *alerts_waiting(
	struct alerts *a, size_t target, unsigned *ret_n, uint64_t *ret_sent, uint64_t *ret_failed);

/* Send a test to a target at once. */
int alerts_try(const struct alerts_config *c, const struct alert_target *t, struct lp_err *err);

#endif
