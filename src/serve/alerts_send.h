/* Delivers one alert, over HTTP or to a command. */
#ifndef SERVE_ALERTS_SEND_H
#define SERVE_ALERTS_SEND_H

#include "serve/alerts_config.h"
#include <jansson.h>

#define ALERT_TIMEOUT_SEC 20

/* POST JSON to the target's URL followed by `path`. Status 200 to 299 is a success. `err` describes
 * a failure, without tokens and passwords. */
int alert_post(
	const struct alert_target *t, const char *path, const json_t *body, struct lp_err *err);

/* Run the target's command, with the JSON as its standard input, and the change, the level and the
 * sentence in its environment ($LIMPET_CHANGE, $LIMPET_LEVEL, $LIMPET_WHAT). It must exit with 0
 * within ALERT_TIMEOUT_SEC. */
int alert_run(const struct alert_target *t, const json_t *body, struct lp_err *err);

#endif
