/* Logging in and out: a token becomes a cookie that scripts of a page cannot read. */
#include "serve/http_peer.h"
#include "serve/serve.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define COOKIE_RULES "; Path=/; HttpOnly; SameSite=Strict"

static void healthz(void *ctx, const struct http_request *rq, struct http_answer *a)
{
	(void)ctx;
	(void)rq;
	a->type = "text/plain; charset=utf-8";
	strbuf_puts(&a->body, "ok\n");
}

static void cookie_set(const struct serve *s, struct http_answer *a, const char *token)
{
	snprintf(a->cookie, sizeof(a->cookie), HTTP_COOKIE "=%s" COOKIE_RULES "%s%s", token,
		*token ? "" : "; Max-Age=0", s->config.tls_cert_file ? "; Secure" : "");
}

static void login(void *ctx, const struct http_request *rq, struct http_answer *a)
{
	struct serve *s = ctx;
	json_t *body = json_loadb(rq->body, rq->body_size, 0, NULL), *answer;
	const char *token = json_string_value(json_object_get(body, "token"));
	char name[HTTP_NAME_MAX], *text;

	if (!token) {
		http_fail(a, 400, "the body should be {\"token\": \"...\"}");
	} else if (!tokens_find(s->tokens, TOKEN_OPERATOR, token, name, sizeof(name))) {
		http_fail(a, 401, "the token is not one of this collector's operators");
	} else {
		cookie_set(s, a, token);
		answer = json_pack("{s:s}", "operator", name);
		text = answer ? json_dumps(answer, JSON_COMPACT) : NULL;
		strbuf_puts(&a->body, text ? text : "{}");
		free(text);
		json_decref(answer);
	}
	json_decref(body);
}

static void logout(void *ctx, const struct http_request *rq, struct http_answer *a)
{
	(void)rq;
	cookie_set(ctx, a, "");
	strbuf_puts(&a->body, "{}");
}

const struct http_route routes_session[] = {
	{"GET", "/healthz", HTTP_OPEN, .handle = healthz},
	{"POST", "/api/v1/login", HTTP_OPEN, .body_max = 1024, .handle = login},
	{"DELETE", "/api/v1/login", HTTP_OPEN, .handle = logout},
	{NULL},
};
