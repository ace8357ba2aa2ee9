/* Alerts: reports incidents to the targets of the configuration, and retries until they are
 * delivered.
 *
 * Each change of an incident is added to a queue per target, in the transaction that changes the
 * incident. So no change is lost in a crash, or while a target is unavailable. A thread delivers
 * the queue of each target in order, and tries again with growing pauses. It also sends all open
 * incidents to Alertmanager once per minute, because Alertmanager ends alerts that are not
 * repeated.
 */
#ifndef SERVE_ALERTS_H
#define SERVE_ALERTS_H

#include "serve/alerts_config.h"
#include "serve/incidents.h"

struct alerts;

/* Start the thread. The store must outlive it. The thread calls `warn`. */
int alerts_start(const char *path, struct incidents *store, struct lp_warn *warn,
	struct alerts **ret, struct lp_err *err);
void alerts_stop(struct alerts *a);

/* An incident changed. Call this within the transaction of the store. */
void alerts_changed(struct alerts *a, enum incident_change change, const json_t *incident);

/* The number of alerts that wait for a target and its last error; NULL after the last target. */
const char *alerts_waiting(
	struct alerts *a, size_t target, unsigned *ret_n, uint64_t *ret_sent, uint64_t *ret_failed);

/* Send a test to a target immediately. */
int alerts_try(const struct alerts_config *c, const struct alert_target *t, struct lp_err *err);

#endif
