#include "import/remote/http_fetch.h"

#include "base/cleanup.h"
#include "base/time.h"
#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <strings.h>

#define TRIES_MAX 4
#define CONNECT_S 15L
#define SILENCE_S 180L /* give up on a server that sends nothing for this long */
#define REDIRECTS_MAX 5L

struct http_client {
	const struct http_config *config;
	CURLM *multi;
	struct curl_slist *headers;
};

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;

static void curl_begin(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
}

int http_client_new(const struct http_config *config, struct http_client **ret, struct lp_err *err)
{
	struct http_client *c = calloc(1, sizeof(*c));
	struct strbuf header = {0};

	pthread_once(&curl_once, curl_begin);
	if (c) {
		c->config = config;
		c->multi = curl_multi_init();
	}
	if (c && config->token)
		strbuf_printf(&header, "Authorization: %s %s",
			config->token_type ? config->token_type : "Bearer", config->token);
	if (c && header.text)
		c->headers = curl_slist_append(NULL, header.text);
	if (!c || !c->multi || header.failed || (header.text && !c->headers)) {
		http_client_free(c);
		strbuf_release(&header);
		return lp_err_sys(err, -ENOMEM, "cannot use HTTP");
	}
	curl_multi_setopt(c->multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)HTTP_PARALLEL);
	strbuf_release(&header);
	*ret = c;
	return 0;
}

void http_client_free(struct http_client *c)
{
	if (!c)
		return;
	curl_multi_cleanup(c->multi);
	curl_slist_free_all(c->headers);
	free(c);
}

int http_client_header(struct http_client *c, const char *header)
{
	struct curl_slist *more = curl_slist_append(c->headers, header);

	if (!more)
		return -ENOMEM;
	c->headers = more;
	return 0;
}

void http_request_release(struct http_request *r)
{
	free(r->url);
	free(r->form);
	strbuf_release(&r->answer);
	*r = (struct http_request){0};
}

static size_t answer_take(char *data, size_t size, size_t n, void *ctx)
{
	struct http_request *r = ctx;

	if (size * n > HTTP_ANSWER_MAX - r->answer.len) {
		r->too_large = true;
		return 0;
	}
	strbuf_add(&r->answer, data, size * n);
	return r->answer.failed ? 0 : size * n;
}

static int stop_look(
	void *ctx, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up)
{
	const struct http_request *r = ctx;

	(void)down_total;
	(void)down;
	(void)up_total;
	(void)up;
	return __atomic_load_n(r->stop, __ATOMIC_RELAXED);
}

static void easy_secure(CURL *e, const struct http_config *c)
{
	if (c->ca_file)
		curl_easy_setopt(e, CURLOPT_CAINFO, c->ca_file);
	if (c->cert_file) {
		curl_easy_setopt(e, CURLOPT_SSLCERT, c->cert_file);
		curl_easy_setopt(e, CURLOPT_SSLKEY, c->key_file);
	}
	if (c->insecure) {
		curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, 0L);
	}
	curl_easy_setopt(e, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (c->username) {
		curl_easy_setopt(e, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		curl_easy_setopt(e, CURLOPT_USERNAME, c->username);
		curl_easy_setopt(e, CURLOPT_PASSWORD, c->password ? c->password : "");
	}
	if (c->proxy_url)
		curl_easy_setopt(e, CURLOPT_PROXY, c->proxy_url);
}

static CURL *easy_new(const struct http_client *c, struct http_request *r)
{
	CURL *e = curl_easy_init();

	if (!e)
		return NULL;
	r->failure[0] = '\0';
	curl_easy_setopt(e, CURLOPT_URL, r->url);
	curl_easy_setopt(e, CURLOPT_PRIVATE, r);
	curl_easy_setopt(e, CURLOPT_ERRORBUFFER, r->failure);
	curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, answer_take);
	curl_easy_setopt(e, CURLOPT_WRITEDATA, r);
	curl_easy_setopt(e, CURLOPT_USERAGENT, "limpet/" LIMPET_VERSION);
	curl_easy_setopt(e, CURLOPT_ACCEPT_ENCODING, "");
	curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
	curl_easy_setopt(e, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(e, CURLOPT_LOW_SPEED_TIME, SILENCE_S);
	curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(e, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, c->config->no_redirects ? 0L : 1L);
	curl_easy_setopt(e, CURLOPT_POSTREDIR, (long)CURL_REDIR_POST_ALL);
	curl_easy_setopt(e, CURLOPT_MAXREDIRS, REDIRECTS_MAX);
	if (c->headers)
		curl_easy_setopt(e, CURLOPT_HTTPHEADER, c->headers);
	if (r->form)
		curl_easy_setopt(e, CURLOPT_POSTFIELDS, r->form);
	if (r->form && r->form_size)
		curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->form_size);
	if (r->stop) {
		curl_easy_setopt(e, CURLOPT_NOPROGRESS, 0L);
		curl_easy_setopt(e, CURLOPT_XFERINFOFUNCTION, stop_look);
		curl_easy_setopt(e, CURLOPT_XFERINFODATA, r);
	}
	if (r->timeout_s)
		curl_easy_setopt(e, CURLOPT_TIMEOUT, r->timeout_s);
	easy_secure(e, c->config);
	return e;
}

/* Note the result of a finished request. */
static void easy_done(CURL *e, CURLcode code)
{
	struct http_request *r = NULL;
	const char *type = NULL;

	curl_easy_getinfo(e, CURLINFO_PRIVATE, (char **)&r);
	curl_easy_getinfo(e, CURLINFO_RESPONSE_CODE, &r->status);
	curl_easy_getinfo(e, CURLINFO_CONTENT_TYPE, &type);
	r->json = type && !strncasecmp(type, "application/json", strlen("application/json"));
	r->code = r->too_large ? 0 : (int)code;
	r->untrusted = code == CURLE_PEER_FAILED_VERIFICATION;
	if (r->code && !r->failure[0])
		snprintf(r->failure, sizeof(r->failure), "%s", curl_easy_strerror(code));
}

/* Run the requests that are not done yet. */
static int fetch_once(struct http_client *c, struct http_request *requests, const bool *wanted,
	size_t n, struct lp_err *err)
{
	int running = 1, left, r = 0;
	CURLMsg *message;

	for (size_t i = 0; i < n; i++) {
		CURL *e = wanted[i] ? easy_new(c, &requests[i]) : NULL;

		if (wanted[i] && (!e || curl_multi_add_handle(c->multi, e) != CURLM_OK)) {
			if (e)
				curl_easy_cleanup(e);
			r = -ENOMEM;
			break;
		}
	}
	while (running) {
		if (curl_multi_perform(c->multi, &running) != CURLM_OK ||
			(running && curl_multi_poll(c->multi, NULL, 0, 1000, NULL) != CURLM_OK)) {
			r = -EIO;
			break;
		}
		while ((message = curl_multi_info_read(c->multi, &left))) {
			CURL *e = message->easy_handle;

			easy_done(e, message->data.result);
			curl_multi_remove_handle(c->multi, e);
			curl_easy_cleanup(e);
		}
	}
	return r < 0 ? lp_err_sys(err, r, "cannot use HTTP") : 0;
}

/* Can the request succeed at the next attempt? */
static bool request_may_pass(const struct http_request *r)
{
	if (r->once)
		return false;
	return r->status == 429 || r->status == 503 || r->code == CURLE_GOT_NOTHING ||
		r->code == CURLE_RECV_ERROR || r->code == CURLE_SEND_ERROR;
}

int http_fetch(struct http_client *c, struct http_request *requests, size_t n, struct lp_err *err)
{
	_cleanup_free_ bool *wanted = calloc(n + 1, sizeof(*wanted));
	int64_t pause_ms = 200;
	bool again = true;
	int r = 0;

	if (!wanted)
		return lp_err_sys(err, -ENOMEM, "cannot use HTTP");
	memset(wanted, 1, n);
	for (int i = 0; r == 0 && again; i++) {
		r = fetch_once(c, requests, wanted, n, err);
		again = false;
		for (size_t k = 0; k < n; k++) {
			wanted[k] =
				wanted[k] && request_may_pass(&requests[k]) && i + 1 < TRIES_MAX;
			again |= wanted[k];
			if (wanted[k])
				strbuf_reset(&requests[k].answer);
		}
		if (r == 0 && again) {
			struct timespec pause = {pause_ms / 1000, pause_ms % 1000 * 1000000};

			nanosleep(&pause, NULL);
			pause_ms *= 3;
		}
	}
	return r;
}

void http_form_add(struct strbuf *form, const char *key, const char *value)
{
	strbuf_printf(form, "%s%s=", form->len ? "&" : "", key);
	for (const unsigned char *p = (const unsigned char *)value; *p; p++) {
		if (isalnum(*p) || strchr("-_.~", *p))
			strbuf_putc(form, (char)*p);
		else
			strbuf_printf(form, "%%%02X", *p);
	}
}

void http_unescape(struct strbuf *to, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char hex[3] = {0};

		if (text[i] == '%' && i + 2 < len + 0 && isxdigit((unsigned char)text[i + 1]) &&
			isxdigit((unsigned char)text[i + 2])) {
			memcpy(hex, text + i + 1, 2);
			i += 2;
			if (strtoul(hex, NULL, 16))
				strbuf_putc(to, (char)strtoul(hex, NULL, 16));
		} else {
			strbuf_putc(to, text[i] == '+' ? ' ' : text[i]);
		}
	}
}
