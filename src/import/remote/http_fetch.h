/* Fetches answers over HTTP, several at a time, with limits on their size. */
#ifndef IMPORT_REMOTE_HTTP_FETCH_H
#define IMPORT_REMOTE_HTTP_FETCH_H

#include "base/strbuf.h"
#include "import/remote/http_config.h"

/* The largest answer that is kept. */
#define HTTP_ANSWER_MAX ((size_t)64 << 20)

/* One request and its result. */
struct http_request {
	char *url;
	char *form;	  /* the body of a POST; NULL: GET */
	size_t form_size; /* its size, if it is not text; 0: it is text */
	long timeout_s;	  /* for the whole request; 0: no limit while data arrives */
	const bool *stop; /* cancel the request when any thread sets this; NULL: never */
	long status;	  /* of HTTP; 0: no answer */
	struct strbuf answer;
	int code;	/* of libcurl; 0: success */
	bool untrusted; /* the server's certificate is of an unknown authority */
	bool once;	/* do not retry: the caller decides */
	bool too_large;
	bool json;	   /* according to the server */
	char failure[256]; /* with it */
};

struct http_client;

int http_client_new(const struct http_config *config, struct http_client **ret, struct lp_err *err);
void http_client_free(struct http_client *c);

/* Send a header with every request: "Name: value". 0 or -ENOMEM. */
int http_client_header(struct http_client *c, const char *header);

/* Carry out all requests, at most HTTP_PARALLEL at a time. If a server is busy (429, 503, or closed
 * connections), it tries again a few times. Negative only if no request could be sent; each request
 * has its own result. */
#define HTTP_PARALLEL 4
int http_fetch(struct http_client *c, struct http_request *requests, size_t n, struct lp_err *err);

void http_request_release(struct http_request *r);

/* Append "key=value" to a form or query, with "&" before it unless it is the first. */
void http_form_add(struct strbuf *form, const char *key, const char *value);

/* Append a text of a query, with "%2F" and "+" decoded. */
void http_unescape(struct strbuf *to, const char *text, size_t len);

#endif
