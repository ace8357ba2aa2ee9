#include "serve/push_post.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/safe_text.h"
#include "import/remote/http_fetch.h"
#include <errno.h>
#include <snappy-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_S 30
#define SAID_MAX 200 /* bytes of an answer that an error quotes */

struct push_post {
	const char *url;
	char shown[256];
	struct http_config config;
	struct http_client *client;
};

/* Passwords must be in files, not on the command line, and only HTTP is possible. */
static int url_check(const char *url, struct lp_err *err)
{
	const char *host = strstr(url, "://");

	if (!host || (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0) ||
		!host[3] || host[3] == '/')
		return lp_err_set(err, -EINVAL,
			"--remote-write: '%.200s' is not the address of a receiver, like "
			"https://prometheus.example.org:9090/api/v1/write",
			url);
	if (memchr(host, '@', strcspn(host + 3, "/?#") + 3))
		return lp_err_set(err, -EINVAL,
			"--remote-write: put user and password into the file that "
			"--remote-write-config names, not into the address");
	return 0;
}

int push_post_open(
	const char *url, const char *http_config, struct push_post **ret, struct lp_err *err)
{
	static const char *const headers[] = {"Content-Type: application/x-protobuf",
		"Content-Encoding: snappy", "X-Prometheus-Remote-Write-Version: 0.1.0", "Expect:"};
	struct push_post *p;
	int r = url_check(url, err);

	if (r < 0)
		return r;
	p = calloc(1, sizeof(*p));
	if (!p)
		return lp_err_sys(err, -ENOMEM, "cannot send samples");
	p->url = url;
	/* A query may contain a token. */
	snprintf(p->shown, sizeof(p->shown), "%.*s", (int)strcspn(url, "?#"), url);
	if (http_config)
		r = http_config_load(&p->config, http_config, err);
	if (r == 0)
		r = http_client_new(&p->config, &p->client, err);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(headers); i++) {
		if (http_client_header(p->client, headers[i]) < 0)
			r = lp_err_sys(err, -ENOMEM, "cannot send samples");
	}
	if (r < 0) {
		push_post_close(p);
		return r;
	}
	*ret = p;
	return 0;
}

void push_post_close(struct push_post *p)
{
	if (!p)
		return;
	http_client_free(p->client);
	http_config_release(&p->config);
	free(p);
}

const char *push_post_shown(const struct push_post *p)
{
	return p->shown;
}

/* Advice for an unexpected answer, if there is any. */
static const char *advice(long status)
{
	switch (status) {
	case 401:
	case 403:
		return " (--remote-write-config names a file with a password or token)";
	case 404:
		return " (of Prometheus, is it started with --web.enable-remote-write-receiver, "
		       "and does the address end in /api/v1/write?)";
	default:
		return "";
	}
}

static enum push_result answer_judge(
	const struct push_post *p, const struct http_request *rq, struct lp_err *err)
{
	char said[SAID_MAX];

	if (rq->code) {
		lp_err_set(err, -EIO, "%s: %s", p->shown, rq->failure);
		return PUSH_LATER;
	}
	if (rq->status >= 200 && rq->status < 300)
		return PUSH_SENT;
	snprintf(said, sizeof(said), "%s", rq->answer.text ? rq->answer.text : "");
	said[strcspn(said, "\r\n")] = '\0';
	safe_text_make(said);
	lp_err_set(err, -EIO, "%s answers %ld%s%s%s", p->shown, rq->status, *said ? ": " : "", said,
		advice(rq->status));
	if (rq->status >= 500 || rq->status == 429)
		return PUSH_LATER;
	return rq->status == 400 || rq->status == 413 ? PUSH_TOO_MUCH : PUSH_REFUSED;
}

enum push_result push_post(
	struct push_post *p, const struct strbuf *message, const bool *stop, struct lp_err *err)
{
	_cleanup_(http_request_release) struct http_request rq = {
		.timeout_s = TIMEOUT_S, .once = true, .stop = stop};
	size_t size = snappy_max_compressed_length(message->len);

	rq.url = strdup(p->url);
	rq.form = malloc(size + 1);
	if (!rq.url || !rq.form || message->failed) {
		lp_err_sys(err, -ENOMEM, "cannot send samples");
		return PUSH_LATER;
	}
	if (snappy_compress(message->text ? message->text : "", message->len, rq.form, &size) !=
		SNAPPY_OK) {
		lp_err_set(err, -EIO, "cannot compress samples");
		return PUSH_REFUSED;
	}
	rq.form_size = size;
	if (http_fetch(p->client, &rq, 1, err) < 0)
		return PUSH_LATER;
	return answer_judge(p, &rq, err);
}
