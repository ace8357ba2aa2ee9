#include "serve/send_http.h"

#include "base/cleanup.h"
#include "serve/credential.h"
#include "serve/http_listen.h"
#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define API "/api/v1/ingest/"
#define TOKEN_MAX 4096
#define ANSWER_MAX (UINT32_C(16) << 20)
#define CONNECT_MS 5000L
#define REQUEST_MS 60000L

struct send_http {
	CURL *curl;
	struct curl_slist *headers;
	char *base; /* the URL without a trailing slash */
	struct send_target target;
	char *token_file; /* NULL: none */
	struct lp_warn *warn;
	bool plain; /* http:// */
	bool mode_warned;
	char why[CURL_ERROR_SIZE];
};

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;

static void curl_begin(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
}

char *send_http_escape(const char *text)
{
	struct strbuf sb = {0};

	for (; *text; text++) {
		if (isalnum((unsigned char)*text) || strchr("-_.~", *text))
			strbuf_putc(&sb, *text);
		else
			strbuf_printf(&sb, "%%%02X", (unsigned char)*text);
	}
	return strbuf_take(&sb);
}

/* Is the host of a URL this machine, by its address or as "localhost"? */
static bool host_is_loopback(const char *host)
{
	return !strcasecmp(host, "localhost") || !strcmp(host, "[::1]") || !strcmp(host, "::1") ||
		(host_is_local(host) && !strncmp(host, "127.", 4));
}

static int url_check(const char *url, bool *ret_plain, struct lp_err *err)
{
	CURLU *u = curl_url();
	char *scheme = NULL, *host = NULL, *user = NULL;
	int r = 0;

	if (!u || curl_url_set(u, CURLUPART_URL, url, 0) ||
		curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) ||
		curl_url_get(u, CURLUPART_HOST, &host, 0) || strstr(url, "://") == NULL)
		r = lp_err_set(err, -EINVAL,
			"--send: '%s' is not a URL: it should look like https://collector:9700",
			url);
	else if (curl_url_get(u, CURLUPART_USER, &user, 0) == CURLUE_OK)
		r = lp_err_set(err, -EINVAL,
			"--send: a URL with a user name or password would be visible to every user "
			"of this machine; use --token FILE");
	else if (!strcmp(scheme, "http") && !host_is_loopback(host))
		r = lp_err_set(err, -EINVAL,
			"--send: %s would go over the network unencrypted; use https:// (http:// "
			"is only for a collector on this machine)",
			url);
	else if (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0)
		r = lp_err_set(err, -EINVAL, "--send: '%s' is neither https:// nor http://", url);
	else
		*ret_plain = !strcmp(scheme, "http");
	curl_free(scheme);
	curl_free(host);
	curl_free(user);
	curl_url_cleanup(u);
	return r;
}

/* The file with the token: the named one, the one from systemd, or the default. */
static char *token_file_find(const struct send_target *t)
{
	char path[PATH_MAX];

	if (t->token_file)
		return strdup(t->token_file);
	if (credential_find(SEND_TOKEN_CREDENTIAL, path, sizeof(path)))
		return strdup(path);
	return access(SEND_TOKEN_FILE, F_OK) == 0 ? strdup(SEND_TOKEN_FILE) : NULL;
}

/* Warn if others can read the token: they could send as this server. */
static void mode_check(struct send_http *h)
{
	struct stat st;

	if (h->mode_warned || stat(h->token_file, &st) < 0 || !(st.st_mode & 0007))
		return;
	h->mode_warned = true;
	lp_warn_raise(h->warn, "every user can read the token in %s; chmod 600 it", h->token_file);
}

/* Read the token, and make the headers of all requests. */
static int headers_make(struct send_http *h, struct lp_err *err)
{
	_cleanup_(credential_erase) char *token = NULL;
	char header[TOKEN_MAX + 32] = "";
	int r = 0;

	if (h->token_file) {
		mode_check(h);
		r = credential_read(h->token_file, &token, err);
		if (r < 0)
			return r;
		snprintf(header, sizeof(header), "Authorization: Bearer %s", token);
	}
	curl_slist_free_all(h->headers);
	h->headers = curl_slist_append(NULL, "Content-Type: application/octet-stream");
	h->headers = curl_slist_append(h->headers, "Expect:");
	if (header[0])
		h->headers = curl_slist_append(h->headers, header);
	explicit_bzero(header, sizeof(header));
	return 0;
}

static void options_set(struct send_http *h)
{
	const struct send_target *t = &h->target;

	curl_easy_setopt(h->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(h->curl, CURLOPT_PROTOCOLS_STR, h->plain ? "http" : "https");
	curl_easy_setopt(h->curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	curl_easy_setopt(h->curl, CURLOPT_TIMEOUT_MS, REQUEST_MS);
	curl_easy_setopt(h->curl, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(h->curl, CURLOPT_USERAGENT, "limpet/" LIMPET_VERSION);
	curl_easy_setopt(h->curl, CURLOPT_ERRORBUFFER, h->why);
	curl_easy_setopt(h->curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	if (h->plain)
		curl_easy_setopt(h->curl, CURLOPT_PROXY, "");
	if (t->ca_file)
		curl_easy_setopt(h->curl, CURLOPT_CAINFO, t->ca_file);
	if (t->cert_file)
		curl_easy_setopt(h->curl, CURLOPT_SSLCERT, t->cert_file);
	if (t->key_file)
		curl_easy_setopt(h->curl, CURLOPT_SSLKEY, t->key_file);
}

static int files_check(const struct send_target *t, struct lp_err *err)
{
	const char *const files[] = {t->token_file, t->ca_file, t->cert_file, t->key_file};

	if (!t->cert_file != !t->key_file)
		return lp_err_set(
			err, -EINVAL, "a client certificate needs both --send-cert and --send-key");
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		if (files[i] && access(files[i], R_OK) < 0)
			return lp_err_sys(err, -errno, "cannot read %s", files[i]);
	}
	return 0;
}

/* Prepare the URL without a trailing slash, the token, and the handle of libcurl. */
static int parts_make(struct send_http *h, struct lp_err *err)
{
	size_t len = strlen(h->target.url);

	while (len && h->target.url[len - 1] == '/')
		len--;
	h->base = strndup(h->target.url, len);
	h->token_file = token_file_find(&h->target);
	h->curl = curl_easy_init();
	if (!h->base || !h->curl)
		return lp_err_sys(err, -ENOMEM, "cannot send");
	return headers_make(h, err);
}

int send_http_open(const struct send_target *target, struct send_http **ret, struct lp_warn *warn,
	struct lp_err *err)
{
	struct send_http *h = calloc(1, sizeof(*h));
	int r;

	if (!h)
		return lp_err_sys(err, -ENOMEM, "cannot send");
	pthread_once(&curl_once, curl_begin);
	h->target = *target;
	h->warn = warn;
	r = url_check(target->url, &h->plain, err);
	if (r == 0)
		r = files_check(target, err);
	if (r == 0)
		r = parts_make(h, err);
	if (r < 0) {
		send_http_close(h);
		return r;
	}
	options_set(h);
	*ret = h;
	return 0;
}

void send_http_close(struct send_http *h)
{
	if (!h)
		return;
	curl_easy_cleanup(h->curl);
	curl_slist_free_all(h->headers);
	free(h->base);
	free(h->token_file);
	free(h);
}

static size_t on_answer(char *data, size_t size, size_t n, void *ctx)
{
	struct strbuf *answer = ctx;

	if (answer->len + size * n > ANSWER_MAX)
		return 0;
	strbuf_add(answer, data, size * n);
	return answer->failed ? 0 : size * n;
}

/* The reason in an answer {"error": "..."}. */
static void reason(const struct strbuf *answer, long status, struct lp_err *err)
{
	json_t *json = answer->len ? json_loadb(answer->text, answer->len, 0, NULL) : NULL;
	const char *text = json_string_value(json_object_get(json, "error"));

	if (text)
		lp_err_set(err, -EPROTO, "%.300s", text);
	else
		lp_err_set(err, -EPROTO, "it answers with status %ld", status);
	json_decref(json);
}

static enum send_result judge(
	struct send_http *h, long status, const struct strbuf *answer, struct lp_err *err)
{
	struct lp_err ignored = {0};

	if (status == 200)
		return SEND_OK;
	reason(answer, status, err);
	if (status == 401 || status == 403) {
		headers_make(h, &ignored); /* the token may have been replaced */
		return SEND_FORBIDDEN;
	}
	if (status == 409)
		return SEND_CONFLICT;
	return status >= 500 || status == 408 || status == 429 ? SEND_UNREACHABLE : SEND_REFUSED;
}

static enum send_result request(
	struct send_http *h, const char *path, struct strbuf *answer, struct lp_err *err)
{
	_cleanup_free_ char *url = NULL;
	long status = 0;
	CURLcode code;

	if (asprintf(&url, "%s" API "%s", h->base, path) < 0) {
		url = NULL;
		lp_err_sys(err, -ENOMEM, "cannot send");
		return SEND_UNREACHABLE;
	}
	strbuf_reset(answer);
	h->why[0] = '\0';
	curl_easy_setopt(h->curl, CURLOPT_URL, url);
	curl_easy_setopt(h->curl, CURLOPT_HTTPHEADER, h->headers);
	curl_easy_setopt(h->curl, CURLOPT_WRITEFUNCTION, on_answer);
	curl_easy_setopt(h->curl, CURLOPT_WRITEDATA, answer);
	code = curl_easy_perform(h->curl);
	if (code != CURLE_OK) {
		const char *why = h->why[0] ? h->why : curl_easy_strerror(code);
		size_t len = strlen(why);

		/* Some end with a full stop, and the sentence goes on. */
		len -= len && why[len - 1] == '.';
		lp_err_set(err, -EIO, "%.*s", (int)(len < 300 ? len : 300), why);
		return SEND_UNREACHABLE;
	}
	curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &status);
	return judge(h, status, answer, err);
}

enum send_result send_http_get(
	struct send_http *h, const char *path, struct strbuf *answer, struct lp_err *err)
{
	curl_easy_setopt(h->curl, CURLOPT_HTTPGET, 1L);
	curl_easy_setopt(h->curl, CURLOPT_CUSTOMREQUEST, NULL);
	return request(h, path, answer, err);
}

enum send_result send_http_put(struct send_http *h, const char *path, const void *body, size_t size,
	struct strbuf *answer, struct lp_err *err)
{
	curl_easy_setopt(h->curl, CURLOPT_POST, 1L);
	curl_easy_setopt(h->curl, CURLOPT_CUSTOMREQUEST, "PUT");
	curl_easy_setopt(h->curl, CURLOPT_POSTFIELDSIZE, (long)size);
	curl_easy_setopt(h->curl, CURLOPT_POSTFIELDS, size ? body : "");
	return request(h, path, answer, err);
}
