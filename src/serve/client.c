#include "serve/client.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "serve/credential.h"
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_SEC 60L
#define ANSWER_MAX (64 << 20)

static size_t take(char *data, size_t size, size_t n, void *ctx)
{
	struct strbuf *answer = ctx;

	if (answer->len + size * n > ANSWER_MAX)
		return 0;
	strbuf_add(answer, data, size * n);
	return answer->failed ? 0 : size * n;
}

/* A request in progress. */
struct request {
	CURL *curl;
	struct curl_slist *headers;
	char *token, *url, *body;
	struct strbuf answer;
};

static void request_release(struct request *r)
{
	curl_easy_cleanup(r->curl);
	curl_slist_free_all(r->headers);
	credential_erase(&r->token);
	free(r->url);
	free(r->body);
	strbuf_release(&r->answer);
}

static bool is_here(const char *url)
{
	return !strncmp(url, "http://127.0.0.1", 16) || !strncmp(url, "http://[::1]", 12) ||
		!strncmp(url, "http://localhost", 16);
}

static int request_make(struct request *r, const struct client *c, const char *method,
	const char *path, const json_t *body, struct lp_err *err)
{
	const char *url = c->url ? c->url : CLIENT_URL;
	size_t len = strlen(url);
	int e = c->token_file ? credential_read(c->token_file, &r->token, err) : 0;

	if (e < 0)
		return e;
	/* Nobody else on the network may read the token. */
	if (r->token && strncmp(url, "https://", 8) != 0 && !is_here(url))
		return lp_err_set(err, -EINVAL, "a token is sent to https:// only, not to %s", url);
	while (len && url[len - 1] == '/')
		len--;
	if (asprintf(&r->url, "%.*s%s", (int)len, url, path) < 0)
		r->url = NULL;
	r->body = body ? json_dumps(body, JSON_COMPACT) : NULL;
	r->headers = curl_slist_append(NULL, "Content-Type: application/json");
	r->curl = curl_easy_init();
	if (!r->url || !r->headers || !r->curl || (body && !r->body))
		return lp_err_sys(err, -ENOMEM, "cannot query the collector");
	curl_easy_setopt(r->curl, CURLOPT_URL, r->url);
	curl_easy_setopt(r->curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(r->curl, CURLOPT_CUSTOMREQUEST, method);
	curl_easy_setopt(r->curl, CURLOPT_TIMEOUT, TIMEOUT_SEC);
	curl_easy_setopt(r->curl, CURLOPT_NOPROXY, "127.0.0.1,::1,localhost");
	curl_easy_setopt(r->curl, CURLOPT_HTTPHEADER, r->headers);
	curl_easy_setopt(r->curl, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(r->curl, CURLOPT_WRITEDATA, &r->answer);
	if (r->body)
		curl_easy_setopt(r->curl, CURLOPT_POSTFIELDS, r->body);
	if (c->ca_file)
		curl_easy_setopt(r->curl, CURLOPT_CAINFO, c->ca_file);
	if (r->token) {
		curl_easy_setopt(r->curl, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
		curl_easy_setopt(r->curl, CURLOPT_XOAUTH2_BEARER, r->token);
	}
	return 0;
}

static int refusal(long status, const json_t *answer, const char *url, struct lp_err *err)
{
	const char *why = json_string_value(json_object_get(answer, "error"));
	int code = status == 404		 ? -ENOENT
		: status == 400			 ? -EINVAL
		: status == 401 || status == 403 ? -EACCES
						 : -EIO;

	return why
		? lp_err_set(err, code, "%s", why)
		: lp_err_set(err, code, "%s answers with %ld: is a collector there?", url, status);
}

int client_ask(const struct client *c, const char *method, const char *path, const json_t *body,
	json_t **ret, struct lp_err *err)
{
	_cleanup_(request_release) struct request r = {0};
	const char *url = c->url ? c->url : CLIENT_URL;
	json_t *answer;
	CURLcode code;
	long status = 0;
	int e = request_make(&r, c, method, path, body, err);

	if (e < 0)
		return e;
	code = curl_easy_perform(r.curl);
	if (code != CURLE_OK)
		return lp_err_set(err, -EIO,
			"cannot query the collector at %s: %s (--url names another one)", url,
			curl_easy_strerror(code));
	curl_easy_getinfo(r.curl, CURLINFO_RESPONSE_CODE, &status);
	answer = json_loadb(r.answer.text ? r.answer.text : "", r.answer.len, 0, NULL);
	if (status != 200) {
		e = refusal(status, answer, url, err);
		json_decref(answer);
		return e;
	}
	if (!answer)
		return lp_err_set(
			err, -EIO, "%s does not answer with JSON: is a collector there?", url);
	*ret = answer;
	return 0;
}

char *client_escape(const char *text)
{
	char *escaped = curl_easy_escape(NULL, text, 0), *copy;

	copy = escaped ? strdup(escaped) : NULL;
	curl_free(escaped);
	return copy;
}
