/* The common part of the commands about incidents: the collector, the author, and printing
 * incidents. */
#ifndef CLI_INCIDENTS_COMMON_H
#define CLI_INCIDENTS_COMMON_H

#include "base/option.h"
#include "serve/client.h"
#include <stdbool.h>

struct incidents_common {
	const char *url, *token, *ca, *by;
	bool json;
};

/* The common rows; `structure` must have a member `common`. */
#define INCIDENTS_OPTIONS(structure)                                                               \
	{"url", 0, OPTION_STRING, offsetof(structure, common.url), "URL",                          \
		"the collector [$LIMPET_URL, or " CLIENT_URL "]"},                                 \
		{"token", 0, OPTION_STRING, offsetof(structure, common.token), "FILE",             \
			"a file with an operator's token ('limpet serve enroll --operator') "      \
			"[$LIMPET_TOKEN_FILE, or none]"},                                          \
		{"ca", 0, OPTION_STRING, offsetof(structure, common.ca), "FILE",                   \
			"the authority that signed the collector's certificate (PEM) [the "        \
			"system's]"},                                                              \
	{                                                                                          \
		"json", 0, OPTION_FLAG, offsetof(structure, common.json), NULL, "print JSON"       \
	}

#define INCIDENTS_BY(structure)                                                                    \
	{                                                                                          \
		"by", 0, OPTION_STRING, offsetof(structure, common.by), "NAME",                    \
			"your name, if used on the collector itself; elsewhere, the token "        \
			"decides [the user's name]"                                                \
	}

/* Send a request to the collector. */
int incidents_ask(const struct incidents_common *c, const char *method, const char *path,
	const json_t *body, json_t **ret, struct lp_err *err);

/* The number of an incident: "7", "#7". -EINVAL: it is not one. */
int incidents_id_parse(const char *text, int64_t *ret, struct lp_err *err);

/* The name of the author. */
const char *incidents_by(const struct incidents_common *c);

/* Send a statement about each of the incidents, and print the results. `body` may be NULL. Returns
 * an exit code. */
int incidents_say_all(const struct incidents_common *c, const char *method, const char *verb,
	const json_t *body, int n_args, char **args, struct lp_err *err);

/* Print an incident: one line, or all details. */
void incidents_print_line(const json_t *incident, bool colour);
void incidents_print_all(const json_t *incident, bool colour);

#endif
