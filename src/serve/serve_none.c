/* Replaces the collector if its libraries were missing at build time. */
#include "serve/alerts.h"
#include "serve/client.h"
#include "serve/send.h"
#include "serve/serve.h"

#include <errno.h>
#include <string.h>

#define MISSING                                                                                    \
	"this limpet was built without the collector: it needs libmicrohttpd, GnuTLS and libcurl " \
	"(Debian: libmicrohttpd-dev libcurl4-gnutls-dev), and a new build"

int serve_open(const struct serve_config *config, struct serve **ret, struct lp_err *err)
{
	(void)config;
	(void)ret;
	return lp_err_set(err, -EOPNOTSUPP, MISSING);
}

void serve_close(struct serve *s)
{
	(void)s;
}

const char *http_url(const struct http_server *s)
{
	(void)s;
	return "";
}

int token_enroll(const char *dir, enum token_kind kind, const char *name, char text[TOKEN_TEXT_MAX],
	bool *ret_replaced, struct lp_err *err)
{
	(void)dir;
	(void)kind;
	(void)name;
	(void)text;
	(void)ret_replaced;
	return lp_err_set(err, -EOPNOTSUPP, MISSING);
}

int token_revoke(const char *dir, enum token_kind kind, const char *name, struct lp_err *err)
{
	(void)dir;
	(void)kind;
	(void)name;
	return lp_err_set(err, -EOPNOTSUPP, MISSING);
}

int token_list_load(struct token_list *l, const char *dir, struct lp_err *err)
{
	(void)l;
	(void)dir;
	return lp_err_set(err, -EOPNOTSUPP, MISSING);
}

void token_list_release(struct token_list *l)
{
	(void)l;
}

int send_open(const struct send_config *config, struct sender **ret, struct lp_err *err)
{
	(void)config;
	(void)ret;
	return lp_err_set(err, -EOPNOTSUPP, MISSING);
}

void send_written(void *sender, const char *path, uint64_t size)
{
	(void)sender;
	(void)path;
	(void)size;
}

void send_close(struct sender *s, struct send_stats *ret_stats)
{
	(void)s;
	(void)ret_stats;
}

int alerts_try(const struct alerts_config *c, const struct alert_target *t, struct lp_err *err)
{
	(void)c;
	(void)t;
	return lp_err_set(err, -EOPNOTSUPP, MISSING);
}

int client_ask(const struct client *c, const char *method, const char *path, const json_t *body,
	json_t **ret, struct lp_err *err)
{
	(void)c;
	(void)method;
	(void)path;
	(void)body;
	(void)ret;
	return lp_err_set(err, -EOPNOTSUPP, MISSING);
}

char *client_escape(const char *text)
{
	return strdup(text);
}
