/* The targets of alerts: a YAML file.
 *
 *     page: https://collector.example:9700
 *     targets:
 *       - name: operators
 *         alertmanager: http://127.0.0.1:9093
 *       - name: chat
 *         webhook: https://chat.example/hooks/limpet
 *         token_file: /etc/limpet/chat.token
 *         level: critical
 *       - name: pager
 *         command: [/usr/local/bin/page, --queue, storage]
 */
#ifndef SERVE_ALERTS_CONFIG_H
#define SERVE_ALERTS_CONFIG_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stddef.h>

enum alert_kind { ALERT_ALERTMANAGER = 0, ALERT_WEBHOOK, ALERT_COMMAND };

struct alert_target {
	char *name;
	enum alert_kind kind;
	char *url;	  /* for the first two kinds */
	char **command;	  /* for the third kind, NULL-terminated */
	char *token_file; /* sent as "Authorization: Bearer"; NULL: none */
	char *ca_file;	  /* NULL: the certificate authorities of the system */
	bool critical;	  /* only critical incidents */
	size_t line;	  /* its first line in the file */
};

struct alerts_config {
	char *page; /* the address of the page, for links, without a trailing slash; NULL:
		     * unknown */
	struct alert_target *targets;
	size_t n, cap;
};

/* Read the file. Zero-initialise `ret`, and call alerts_config_release() even after a failure.
 * Errors name file and line.
 */
int alerts_config_read(const char *path, struct alerts_config *ret, struct lp_err *err);
int alerts_config_parse(const char *text, size_t len, const char *name, struct alerts_config *ret,
	struct lp_err *err);
void alerts_config_release(struct alerts_config *c);

#endif
