/* The importer for servers with Prometheus' HTTP API: Prometheus itself, VictoriaMetrics, Thanos,
 * Mimir.
 *
 * It requests raw samples, by selectors with a range ("{...}[600s]"), not values on a grid.
 * Counters then have the times at which they were scraped, and rates are correct. The server is
 * read instance by instance, each from the beginning to the end, in pieces that are short enough to
 * need little memory on both sides.
 */
#include "base/array.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "import/importer.h"
#include "import/remote/gather.h"
#include "import/remote/http_fetch.h"
#include "model/meaning.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define SCHEME_HTTP "prometheus+http://"
#define SCHEME_HTTPS "prometheus+https://"

#define PIECE_FIRST_US (600 * US_PER_SEC)
#define PIECE_MIN_US (10 * US_PER_SEC)
#define PIECE_MAX_US US_PER_DAY
#define PIECE_SAMPLES 300000 /* per request, approximately */
#define INSTANCES_MAX 100000
#define LAG_US (10 * US_PER_SEC) /* a scrape may take this long to become visible */

struct prometheus_options {
	struct option_list mappings;
	const char *http_config;
};

/* A time range of an instance. */
struct piece {
	size_t instance;
	int64_t from_us, to_us;
};

struct prometheus {
	struct lp_source base;
	char *url;		/* "http://host:9090/prefix" */
	struct strbuf matchers; /* from ?match=, each with a comma before it */
	struct strbuf names;	/* of metrics, as a regular expression */
	struct http_config config;
	struct http_client *client;
	struct mapping mapping;
	struct meanings meanings;
	struct strbuf worse;
	struct strmap present; /* metrics that the server has */
	struct gather gather;
	struct lp_warn *warn;
	struct lp_select select;
	char **instances; /* as matchers: `,instance="oss3:9100"` or "" for everything */
	size_t n_instances, cap_instances;
	struct piece next; /* the next piece to request */
	int64_t piece_us;
	struct {
		struct piece piece;
		struct http_request request;
	} wave[HTTP_PARALLEL]; /* requested in parallel, delivered one after the other */
	size_t n_wave, at_wave;
	bool pending;	  /* wave[at_wave] has more batches */
	uint64_t n_total; /* samples so far */
};

static void prometheus_close(struct lp_source *base)
{
	struct prometheus *p = (struct prometheus *)base;

	for (size_t i = 0; i < HTTP_PARALLEL; i++)
		http_request_release(&p->wave[i].request);
	for (size_t i = 0; i < p->n_instances; i++)
		free(p->instances[i]);
	free(p->instances);
	gather_release(&p->gather);
	mapping_release(&p->mapping);
	meanings_release(&p->meanings);
	strmap_release(&p->present);
	strbuf_release(&p->worse);
	strbuf_release(&p->matchers);
	strbuf_release(&p->names);
	http_client_free(p->client);
	http_config_release(&p->config);
	free(p->url);
	lp_catalogue_free(base->catalogue);
	free(base->path);
	free(p);
}
DEFINE_CLEANUP(struct lp_source *, lp_source_close);

static int out_of_memory(const struct prometheus *p, struct lp_err *err)
{
	return lp_err_sys(err, -ENOMEM, "cannot read %s", p->base.path);
}

/* Describe a transport error, and say what to do. */
static int transport_error(
	const struct prometheus *p, const struct http_request *rq, struct lp_err *err)
{
	return lp_err_set(err, -EIO, "cannot read %s: %s%s", p->base.path, rq->failure,
		rq->untrusted ? "; name the certificate of its authority as 'ca_file' in the file "
				"of --http-config"
			      : "");
}

static int status_error(
	const struct prometheus *p, const struct http_request *rq, struct lp_err *err)
{
	const char *path = p->base.path;
	char said[300];

	answer_error(rq->answer.text, rq->answer.len, said, sizeof(said));
	switch (rq->status) {
	case 401:
	case 403:
		return lp_err_set(err, -EACCES,
			"%s: the server requires %s (%ld): name a file with a password or token by "
			"--http-config or LIMPET_HTTP_CONFIG",
			path,
			p->config.token || p->config.username ? "other credentials" : "credentials",
			rq->status);
	case 404:
		return lp_err_set(err, -ENOENT,
			"%s: there is no Prometheus API at %s/api/v1 (404); if it has a prefix, "
			"put that into the address",
			path, p->url);
	case 422:
	case 400:
		return lp_err_set(err, -EBADMSG, "%s: the server refuses the query (%ld): %s", path,
			rq->status, said);
	default:
		if (rq->status >= 300 && rq->status < 400)
			return lp_err_set(err, -EIO,
				"%s: the server redirects to another address (%ld), which limpet "
				"does not follow",
				path, rq->status);
		return lp_err_set(
			err, -EIO, "%s: the server answers %ld: %s", path, rq->status, said);
	}
}

/* Was a request too large, so that smaller pieces are needed? */
static bool answer_is_too_much(const struct http_request *rq)
{
	static const char *const words[] = {"too many samples", "too many points", "memory limit",
		"timed out", "maximum of", "cannot select more than", "-search.max"};
	char said[300];

	if (rq->too_large)
		return true;
	if (rq->code || rq->status < 400)
		return false;
	answer_error(rq->answer.text, rq->answer.len, said, sizeof(said));
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcasestr(said, words[i]))
			return true;
	}
	return false;
}

static int request_check(
	const struct prometheus *p, const struct http_request *rq, struct lp_err *err)
{
	if (rq->too_large)
		return lp_err_set(err, -E2BIG, "%s: the answer is larger than %zu MiB",
			p->base.path, HTTP_ANSWER_MAX >> 20);
	if (rq->code)
		return transport_error(p, rq, err);
	if (rq->status != 200)
		return status_error(p, rq, err);
	if (rq->answer.failed)
		return out_of_memory(p, err);
	return 0;
}

static void time_add(struct strbuf *form, const char *key, int64_t us)
{
	char text[40];

	snprintf(text, sizeof(text), "%" PRId64 ".%03d", floor_div(us, US_PER_SEC),
		(int)((us - floor_div(us, US_PER_SEC) * US_PER_SEC) / 1000));
	http_form_add(form, key, text);
}

static int request_make(const struct prometheus *p, const char *api, struct strbuf *form, bool post,
	struct http_request *rq, struct lp_err *err)
{
	struct strbuf url = {0};

	http_request_release(rq);
	strbuf_printf(&url, "%s/api/v1/%s", p->url, api);
	if (!post)
		strbuf_printf(&url, "?%s", form->text ? form->text : "");
	rq->url = strbuf_take(&url);
	rq->form = post ? strbuf_take(form) : NULL;
	strbuf_release(form);
	return rq->url && (rq->form || !post) ? 0 : out_of_memory(p, err);
}

/* Get the values of a label over all matching series. */
static int label_values(const struct prometheus *p, const char *label, const char *selector,
	int (*fn)(void *ctx, const char *word, struct lp_err *err), void *ctx, struct lp_err *err)
{
	_cleanup_(http_request_release) struct http_request rq = {0};
	struct strbuf form = {0};
	char api[64];
	int r;

	http_form_add(&form, "match[]", selector);
	time_add(&form, "start", p->select.from_us);
	time_add(&form, "end", p->select.to_us ? p->select.to_us : clock_us(CLOCK_REALTIME));
	snprintf(api, sizeof(api), "label/%s/values", label);
	r = request_make(p, api, &form, false, &rq, err);
	if (r == 0)
		r = http_fetch(p->client, &rq, 1, err);
	if (r == 0)
		r = request_check(p, &rq, err);
	if (r == 0)
		r = answer_parse_words(
			rq.answer.text ? rq.answer.text : "", rq.answer.len, fn, ctx, err);
	return r == -EBADMSG && rq.status == 200 ? lp_err_prefix(err, "%s", p->base.path) : r;
}

static int present_add(void *ctx, const char *word, struct lp_err *err)
{
	struct prometheus *p = ctx;

	return strmap_put(&p->present, word, 0) < 0 ? out_of_memory(p, err) : 0;
}

/* Quote a text for PromQL. */
static void quoted_add(struct strbuf *to, const char *text)
{
	strbuf_putc(to, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			strbuf_putc(to, '\\');
		if (*text == '\n')
			strbuf_puts(to, "\\n");
		else
			strbuf_putc(to, *text);
	}
	strbuf_putc(to, '"');
}

static int instance_add(void *ctx, const char *word, struct lp_err *err)
{
	struct prometheus *p = ctx;
	struct strbuf matcher = {0};

	if (p->n_instances == INSTANCES_MAX)
		return lp_err_set(
			err, -E2BIG, "%s: more than %d instances", p->base.path, INSTANCES_MAX);
	strbuf_puts(&matcher, ",instance=");
	quoted_add(&matcher, word);
	if (array_reserve(&p->instances, &p->cap_instances, p->n_instances + 1,
		    sizeof(*p->instances)) < 0)
		matcher.failed = true;
	else
		p->instances[p->n_instances] = strbuf_take(&matcher);
	if (matcher.failed || !p->instances[p->n_instances]) {
		strbuf_release(&matcher);
		return out_of_memory(p, err);
	}
	p->n_instances++;
	return 0;
}

static void selector_make(const struct prometheus *p, const char *more, struct strbuf *to)
{
	strbuf_puts(to, "{__name__=~");
	quoted_add(to, p->names.text ? p->names.text : "");
	strbuf_printf(to, "%s%s}", p->matchers.text ? p->matchers.text : "", more);
}

/* Which metrics of the tables does the server have? */
static int metrics_find(struct prometheus *p, struct lp_err *err)
{
	_cleanup_(strbuf_release) struct strbuf selector = {0};
	_cleanup_(gather_release) struct gather all = {0};
	struct lp_catalogue *scratch = lp_catalogue_new();
	int r = scratch ? 0 : out_of_memory(p, err);

	if (r == 0)
		r = gather_init(&all, &p->mapping, scratch, NULL, NULL, p->base.path, err);
	if (r == 0)
		gather_names(&all, &p->names);
	lp_catalogue_free(scratch);
	selector_make(p, "", &selector);
	if (r == 0 && selector.failed)
		r = out_of_memory(p, err);
	if (r == 0)
		r = label_values(p, "__name__", selector.text, present_add, p, err);
	if (r == 0 && !p->present.n)
		return lp_err_set(err, -ENODATA,
			"%s has none of the metrics that limpet knows in that time (a table of "
			"others can be given with --mapping; see 'limpet help import')",
			p->base.path);
	return r;
}

/* Find out which data the server has. */
static int contents_find(struct prometheus *p, struct lp_err *err)
{
	_cleanup_(strbuf_release) struct strbuf selector = {0};
	int r = metrics_find(p, err);

	if (r == 0)
		r = gather_init(&p->gather, &p->mapping, p->base.catalogue, &p->present, p->warn,
			p->base.path, err);
	if (r < 0)
		return r;
	strbuf_reset(&p->names);
	gather_names(&p->gather, &p->names);
	selector_make(p, "", &selector);
	if (p->names.failed || selector.failed)
		return out_of_memory(p, err);
	/* A reader that follows needs all instances at the same time, in the order of time. */
	if (p->select.follow)
		return instance_add(p, "", err) < 0 ? -ENOMEM : (p->instances[0][0] = '\0', 0);
	r = label_values(p, "instance", selector.text, instance_add, p, err);
	/* Another program wrote series without this label; they were not scraped. */
	return r < 0 ? r : instance_add(p, "", err);
}

/* The end of the readable data; while data arrives, only as far as it is certainly complete. */
static int64_t readable_end(const struct prometheus *p)
{
	int64_t lag = p->base.interval_us > LAG_US ? p->base.interval_us : LAG_US;
	int64_t now = clock_us(CLOCK_REALTIME) - lag;

	if (p->select.follow && (!p->select.to_us || now < p->select.to_us))
		return now;
	return p->select.to_us;
}

/* The next piece to request. */
static bool piece_take(struct prometheus *p, struct piece *ret)
{
	int64_t end = readable_end(p);

	if (p->next.from_us >= end && !p->select.follow) {
		p->next.instance++;
		p->next.from_us = p->select.from_us;
	}
	if (p->next.instance >= p->n_instances || p->next.from_us >= end)
		return false;
	*ret = p->next;
	ret->to_us = ret->from_us + p->piece_us < end ? ret->from_us + p->piece_us : end;
	p->next.from_us = ret->to_us;
	return true;
}

/* The query of a piece: all its samples. The range begins a millisecond early, because some servers
 * include its beginning and others do not. */
static int piece_request(struct prometheus *p, const struct piece *piece, struct http_request *rq,
	struct lp_err *err)
{
	_cleanup_(strbuf_release) struct strbuf query = {0};
	struct strbuf form = {0};
	int64_t from_ms = floor_div(piece->from_us, 1000), to_ms = floor_div(piece->to_us, 1000);

	selector_make(p, p->instances[piece->instance], &query);
	strbuf_printf(&query, "[%" PRId64 "ms]", to_ms - from_ms);
	if (query.failed)
		return out_of_memory(p, err);
	http_form_add(&form, "query", query.text);
	time_add(&form, "time", (to_ms - 1) * 1000);
	return request_make(p, "query", &form, true, rq, err);
}

/* Request the next pieces, several in parallel. 1, or 0 if there are no more. */
static int wave_begin(struct prometheus *p, struct lp_err *err)
{
	struct http_request requests[HTTP_PARALLEL] = {0};
	int r = 0;

	p->n_wave = p->at_wave = 0;
	while (r == 0 && p->n_wave < HTTP_PARALLEL && piece_take(p, &p->wave[p->n_wave].piece)) {
		r = piece_request(p, &p->wave[p->n_wave].piece, &requests[p->n_wave], err);
		p->n_wave++;
		if (!p->n_total) /* learn the possible size from one request */
			break;
	}
	if (r == 0 && p->n_wave)
		r = http_fetch(p->client, requests, p->n_wave, err);
	for (size_t i = 0; i < p->n_wave; i++) {
		http_request_release(&p->wave[i].request);
		p->wave[i].request = requests[i];
	}
	return r < 0 ? r : p->n_wave > 0;
}

static int series_take(void *ctx, const struct answer_series *s, struct lp_err *err)
{
	struct prometheus *p = ctx;

	return gather_series(&p->gather, s, err);
}

/* Adapt the size of pieces to the number of samples that one request should have. */
static void piece_adapt(struct prometheus *p, const struct piece *piece, uint64_t n_samples)
{
	int64_t span_us = piece->to_us - piece->from_us, fit;

	if (!n_samples)
		return;
	fit = (int64_t)((double)span_us * PIECE_SAMPLES / (double)n_samples);
	fit = fit < PIECE_MIN_US ? PIECE_MIN_US : fit > PIECE_MAX_US ? PIECE_MAX_US : fit;
	if (!p->n_total || fit < p->piece_us)
		p->piece_us = fit;
}

/* The request was too large: start again at this piece, with smaller ones. */
static int piece_split(struct prometheus *p, struct lp_err *err)
{
	const struct piece *piece = &p->wave[p->at_wave].piece;
	int64_t half = (piece->to_us - piece->from_us) / 2;

	if (half < PIECE_MIN_US / 2)
		return request_check(p, &p->wave[p->at_wave].request, err);
	p->piece_us = half < p->piece_us / 2 ? half : p->piece_us / 2;
	p->next = *piece;
	p->n_wave = p->at_wave; /* the pieces after it are requested again */
	return 0;
}

/* Parse the answer for the current piece. */
static int piece_read(struct prometheus *p, struct lp_err *err)
{
	const struct piece *piece = &p->wave[p->at_wave].piece;
	struct http_request *rq = &p->wave[p->at_wave].request;
	int r;

	if (answer_is_too_much(rq))
		return piece_split(p, err);
	r = request_check(p, rq, err);
	if (r < 0)
		return r;
	gather_begin(&p->gather, floor_div(piece->from_us, 1000));
	r = answer_parse(
		rq->answer.text ? rq->answer.text : "", rq->answer.len, series_take, p, err);
	if (r < 0) {
		gather_drop(&p->gather);
		return r == -EBADMSG ? lp_err_prefix(err, "%s", p->base.path) : r;
	}
	strbuf_release(&rq->answer);
	if (!p->base.interval_us)
		p->base.interval_us = gather_interval_us(&p->gather);
	piece_adapt(p, piece, p->gather.n_samples);
	p->n_total += p->gather.n_samples;
	p->pending = true;
	return 0;
}

/* The end: was there any data? */
static int source_end(struct prometheus *p, struct lp_err *err)
{
	if (p->select.follow && (!p->select.to_us || readable_end(p) < p->select.to_us))
		return -EAGAIN;
	if (p->n_total)
		return 0;
	return lp_err_set(err, -ENODATA, "%s: there are no samples in that time", p->base.path);
}

static int prometheus_next(struct lp_source *base, struct lp_batch **ret, struct lp_err *err)
{
	struct prometheus *p = (struct prometheus *)base;
	int r;

	for (;;) {
		if (p->pending) {
			r = gather_next(&p->gather, ret, err);
			if (r != 0)
				return r;
			p->pending = false;
			p->at_wave++;
		}
		if (p->at_wave >= p->n_wave) {
			r = wave_begin(p, err);
			if (r <= 0)
				return r < 0 ? r : source_end(p, err);
		}
		r = piece_read(p, err);
		if (r < 0)
			return r;
	}
}

static const struct lp_source_ops prometheus_ops = {
	.next = prometheus_next, .close = prometheus_close};

/* A matcher of ?match=: `job="node"`, or a selector, `{job="node"}`. */
static int matcher_add(struct prometheus *p, const char *text, size_t len, struct lp_err *err)
{
	_cleanup_(strbuf_release) struct strbuf plain = {0};
	const char *begin;
	size_t n;

	http_unescape(&plain, text, len);
	if (plain.failed || !plain.text)
		return plain.failed ? out_of_memory(p, err) : 0;
	begin = plain.text;
	n = plain.len;
	if (begin[0] == '{' && n >= 2 && begin[n - 1] == '}') {
		begin++;
		n -= 2;
	}
	if (!memchr(begin, '=', n) && !memchr(begin, '~', n))
		return lp_err_set(err, -EINVAL,
			"%s: match must be like job=\"node\" or {job=\"node\",rack=~\"a.*\"}",
			p->base.path);
	strbuf_putc(&p->matchers, ',');
	strbuf_add(&p->matchers, begin, n);
	return 0;
}

static int query_take(struct prometheus *p, const char *query, struct lp_err *err)
{
	int r = 0;

	while (r == 0 && *query) {
		size_t len = strcspn(query, "&");

		if (len > 6 && !strncmp(query, "match=", 6))
			r = matcher_add(p, query + 6, len - 6, err);
		else if (len > 8 && !strncmp(query, "match[]=", 8))
			r = matcher_add(p, query + 8, len - 8, err);
		else
			r = lp_err_set(err, -EINVAL,
				"%s: '%.*s': the only parameter is ?match=SELECTOR", p->base.path,
				(int)(len < 100 ? len : 100), query);
		query += len + (query[len] == '&');
	}
	return r;
}

/* "prometheus+http://host:9090/prefix/?match=..." */
static int address_take(struct prometheus *p, struct lp_err *err)
{
	const char *http = p->base.path + strlen("prometheus+");
	size_t len = strcspn(http, "?");
	const char *host = strstr(http, "://") + 3;

	if (memchr(host, '@', strcspn(host, "/?")))
		return lp_err_set(err, -EINVAL,
			"an address must not hold a password, which every user of this machine "
			"could "
			"read: name a file by --http-config or LIMPET_HTTP_CONFIG");
	if (!host[strspn(host, "/?:")])
		return lp_err_set(err, -EINVAL, "%s names no host", p->base.path);
	while (len && http[len - 1] == '/')
		len--;
	p->url = strndup(http, len);
	if (!p->url)
		return out_of_memory(p, err);
	return http[strcspn(http, "?")] ? query_take(p, strchr(http, '?') + 1, err) : 0;
}

/* The roles that the tables give to metrics with names that do not show them. */
static int roles_take(struct prometheus *p, struct lp_err *err)
{
	int r = 0;

	for (size_t i = 0; i < p->mapping.n_groups; i++) {
		const struct mapping_group *g = &p->mapping.groups[i];

		for (size_t c = 0; r == 0 && c < g->n_columns; c++) {
			const struct mapping_column *col = &g->columns[c];
			bool lower = col->role == LP_ROLE_YIELD;
			bool higher = col->role == LP_ROLE_LATENCY || col->role == LP_ROLE_TROUBLE;

			if (!col->has_role || (!lower && !higher) ||
				col->role == lp_metric_role(g->kind, col->column))
				continue;
			r = meanings_add(
				&p->meanings, lower ? "lower" : "higher", col->column, err);
		}
	}
	if (r == 0 && p->meanings.n)
		meanings_format(&p->meanings, &p->worse);
	return r < 0 ? r : p->worse.failed ? out_of_memory(p, err) : 0;
}

static const char *prometheus_worse(const struct lp_source *source)
{
	return ((const struct prometheus *)source)->worse.text;
}

/* Read the configuration files. Tables of the user come before the built-in ones: if two metrics
 * fill one column of a component, the first counts. */
static int setup(struct prometheus *p, const struct prometheus_options *o, struct lp_err *err)
{
	const char *config = o && o->http_config ? o->http_config : getenv("LIMPET_HTTP_CONFIG");
	int r = address_take(p, err);

	for (unsigned i = 0; r == 0 && o && i < o->mappings.n; i++)
		r = mapping_load(&p->mapping, o->mappings.items[i], err);
	if (r == 0)
		r = mapping_load_builtin(&p->mapping, "prometheus", err);
	if (r == 0)
		r = mapping_load_own(&p->mapping, err);
	if (r == 0)
		r = roles_take(p, err);
	if (r == 0 && config && *config)
		r = http_config_load(&p->config, config, err);
	if (r == 0)
		r = http_client_new(&p->config, &p->client, err);
	return r;
}

static int prometheus_open(const char *path, const void *options, const struct lp_select *select,
	struct lp_warn *warn, struct lp_source **ret, struct lp_err *err)
{
	struct prometheus *p = calloc(1, sizeof(*p));
	_cleanup_(lp_source_closep) struct lp_source *source = p ? &p->base : NULL;
	int r;

	if (!p)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", path);
	p->base = (struct lp_source){.ops = &prometheus_ops,
		.path = strdup(path),
		.catalogue = lp_catalogue_new(),
		.first_us = select->from_us,
		.last_us = select->to_us};
	if (!p->base.path || !p->base.catalogue)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", path);
	p->warn = warn;
	p->select = *select;
	p->next.from_us = select->from_us;
	p->piece_us = PIECE_FIRST_US;
	r = setup(p, options, err);
	if (r == 0)
		r = contents_find(p, err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(source);
	return 0;
}

static const char *const schemes[] = {SCHEME_HTTP, SCHEME_HTTPS, NULL};

static const struct option_def option_defs[] = {
	{"mapping", 0, OPTION_LIST, offsetof(struct prometheus_options, mappings), "FILE",
		"for remote sources: a table of metrics in YAML, besides those built in; may be "
		"given several times"},
	{"http-config", 0, OPTION_STRING, offsetof(struct prometheus_options, http_config), "FILE",
		"for remote sources: passwords, tokens and TLS, in the form of Prometheus' "
		"http_config [$LIMPET_HTTP_CONFIG]"},
	{0},
};

const struct importer importer_prometheus = {
	.name = "prometheus",
	.summary = "a Prometheus or VictoriaMetrics server",
	.description =
		"Reads from a server that speaks Prometheus' HTTP API (Prometheus, "
		"VictoriaMetrics, Thanos, Mimir). The address takes the place of a file:\n"
		"\n"
		"    limpet diagnose prometheus+http://prom.example.org:9090\n"
		"    limpet diagnose "
		"'prometheus+https://vm/select/0/prometheus?match=job=\"oss\"'\n"
		"\n"
		"Raw samples of the time between --since and --until are read, by default of the "
		"last two hours. match is a label matcher as in PromQL; given several times, all "
		"must hold.\n"
		"\n"
		"Disks, network interfaces, processors, memory and pressure come from "
		"node_exporter's metrics, and become the same columns that 'limpet record' "
		"records. Tables for lustre_exporter, gpfs_exporter, ceph-exporter and "
		"smartctl_exporter are built in; --mapping names a table for others "
		"(docs/importing.md describes it).\n"
		"\n"
		"Passwords, tokens and TLS files are taken from the file named by --http-config or "
		"by the environment variable LIMPET_HTTP_CONFIG, in the form of Prometheus' own "
		"http_config; never from the command line.",
	.options = option_defs,
	.options_size = sizeof(struct prometheus_options),
	.schemes = schemes,
	.worse = prometheus_worse,
	.open = prometheus_open,
};
