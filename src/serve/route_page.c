/* The page: the files of web/, which are part of the program. They contain nothing confidential, so
 * users get them before they log in. */
#include "serve/serve.h"

#include <string.h>

struct page_file {
	const char *path; /* NULL: the end of the table */
	const char *type, *etag;
	const unsigned char *data;
	size_t size;
	const unsigned char *gzip; /* the same, compressed */
	size_t gzip_size;
};

#include "serve/page_files.inc" /* page_files, and PAGE_MISSING: why there are none */

/* Allow scripts, styles and requests of this server only, and no framing. */
#define CSP                                                                                        \
	"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "            \
	"img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

static const struct page_file *file_find(const char *path)
{
	const struct page_file *f = page_files;

	while (f->path && strcmp(f->path, path) != 0)
		f++;
	return f->path ? f : NULL;
}

static void headers_set(struct http_answer *a, const struct page_file *f)
{
	static const struct http_extra extra[] = {{"Content-Security-Policy", CSP},
		{"Referrer-Policy", "no-referrer"}, {"Vary", "Accept-Encoding"}};

	memcpy(a->extra, extra, sizeof(extra));
	a->type = f->type;
	a->cache = "no-cache";
	strncpy(a->etag, f->etag, sizeof(a->etag) - 1);
}

static void say_missing(struct http_answer *a)
{
	a->status = 404;
	a->type = "text/plain; charset=utf-8";
	strbuf_puts(&a->body,
		"This limpet was built without its page (" PAGE_MISSING
		"). 'limpet incidents' shows the same on a terminal; the API is at /api/v1/.\n");
}

static void page(void *ctx, const struct http_request *rq, struct http_answer *a)
{
	const struct page_file *f = file_find(rq->path);
	const char *accepted = http_header(rq, "Accept-Encoding");
	const char *known = http_header(rq, "If-None-Match");

	(void)ctx;
	if (!f && !strcmp(rq->path, "/")) {
		say_missing(a);
		return;
	}
	if (!f) {
		http_fail(a, 404, "there is nothing at this address");
		return;
	}
	headers_set(a, f);
	if (known && strstr(known, f->etag)) {
		a->status = 304;
		return;
	}
	if (accepted && strstr(accepted, "gzip")) {
		a->encoding = "gzip";
		a->fixed = f->gzip;
		a->fixed_size = f->gzip_size;
	} else {
		a->fixed = f->data;
		a->fixed_size = f->size;
	}
}

const struct http_route routes_page[] = {
	{"GET", "/", HTTP_OPEN, .handle = page},
	{NULL},
};
