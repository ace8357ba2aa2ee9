/* Remote write, as Prometheus and vmagent send it. */
#include "serve/remote_write.h"
#include "serve/serve.h"

#include <errno.h>
#include <string.h>

/* Senders drop a request after status 400, and try again after 500. */
static unsigned status_of(int code)
{
	switch (code) {
	case -EBADMSG:
		return 400;
	case -E2BIG:
		return 413;
	case -ENOSPC:
	case -EDQUOT:
		return 507;
	default:
		return 500;
	}
}

static void write_take(void *ctx, const struct http_request *rq, struct http_answer *a)
{
	struct serve *s = ctx;
	const char *version = http_header(rq, "X-Prometheus-Remote-Write-Version");
	struct lp_err err = {0};
	int r;

	/* A sender of remote write sends data of others; a server may send only its own. */
	if (rq->who[0] && strcmp(rq->who, REMOTE_WRITE_NAME) != 0) {
		http_fail(a, 403,
			"the token of '%s' is not for remote write; enroll '" REMOTE_WRITE_NAME "'",
			rq->who);
		return;
	}
	if (version && strncmp(version, "0.1.", 4) != 0 && version[0] != '1') {
		http_fail(a, 415, "version %.20s of remote write is not known here; want 1.0",
			version);
		return;
	}
	r = remote_write_take(s->remote_write, rq->body, rq->body_size, &err);
	if (r < 0)
		http_fail(a, status_of(r), "%s", err.text);
	else
		a->status = 204;
}

const struct http_route routes_write[] = {
	{.method = "POST",
		.path = "/api/v1/write",
		.needs = HTTP_SERVER,
		.body_max = REMOTE_WRITE_PACKED_MAX,
		.handle = write_take,
		.slow = true},
	{0},
};
