#include "serve/http.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/hash.h"
#include "serve/http_listen.h"
#include "serve/http_peer.h"
#include "serve/http_slow.h"
#include "serve/http_stream.h"
#include "serve/http_watch.h"
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define THREADS 2
#define SLOW_THREADS 2
#define CONNECTION_MEMORY 4096
/* libmicrohttpd ends a connection without activity after this time. */
#define SILENCE_SEC (HTTP_IDLE_SEC + 30)
/* Descriptors for other purposes than connections: archives, databases and others. */
#define SPARE_DESCRIPTORS 256
/* Warn if fewer connections than this are possible. */
#define FEW_CONNECTIONS 4096
#define TLS_FILE_MAX (1 << 20)
#define TABLES_MAX 16
/* One client may use this fraction of the memory for bodies. */
#define BODIES_SHARE 4

struct table {
	const struct http_route *routes;
	void *ctx;
};

struct http_server {
	struct http_config config;
	struct table tables[TABLES_MAX];
	unsigned n_tables;
	struct http_watch *watch;
	struct http_slow *slow;
	struct MHD_Daemon *daemon;
	int listen_fd;
	bool loopback; /* reachable only from this machine */
	char url[128];
	char *cert, *key, *ca;
	pthread_mutex_t mutex; /* protects the statistics */
	struct http_stats stats;
	/* Size of the bodies that are being received, by sender. */
	struct strmap senders;
	uint64_t *sender_bytes;
	size_t n_senders, cap_senders;
};

/* A request in progress. */
struct exchange {
	struct http_server *server;
	struct http_conn *conn;
	const struct http_route *route;
	void *ctx; /* of the route */
	struct strbuf body;
	uint64_t body_expected, body_counted;
	bool no_room; /* there was no room for the body */
	char who[HTTP_NAME_MAX];
	/* For a slow route: its state, and its answer when it is finished. */
	struct MHD_Connection *connection;
	const char *method, *path;
	struct http_answer answer;
	bool answered;
};

const char *http_query(const struct http_request *rq, const char *key)
{
	return MHD_lookup_connection_value(rq->connection, MHD_GET_ARGUMENT_KIND, key);
}

const char *http_header(const struct http_request *rq, const char *name)
{
	return MHD_lookup_connection_value(rq->connection, MHD_HEADER_KIND, name);
}

void http_fail(struct http_answer *a, unsigned status, const char *fmt, ...)
{
	char text[HTTP_ERROR_MAX];
	char *json;
	va_list args;
	json_t *object;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	strbuf_reset(&a->body);
	a->status = status;
	a->type = "application/json";
	a->stream = NULL;
	a->fixed = NULL;
	object = json_pack("{s:s}", "error", text);
	json = object ? json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
	strbuf_puts(&a->body, json ? json : "{\"error\":\"something went wrong\"}");
	strbuf_putc(&a->body, '\n');
	json_decref(object);
	free(json);
}

static void count(struct http_server *s, uint64_t *counter)
{
	pthread_mutex_lock(&s->mutex);
	++*counter;
	pthread_mutex_unlock(&s->mutex);
}

/* The counter for the bodies of this client. Call it with the mutex held. NULL: out of memory. */
static uint64_t *sender_bytes(struct http_server *s, const char *who)
{
	uint32_t place;

	if (strmap_get(&s->senders, who, &place))
		return &s->sender_bytes[place];
	place = (uint32_t)s->n_senders;
	if (array_reserve(&s->sender_bytes, &s->cap_senders, s->n_senders + 1, sizeof(uint64_t)) <
			0 ||
		strmap_put(&s->senders, who, place) < 0)
		return NULL;
	s->sender_bytes[s->n_senders++] = 0;
	return &s->sender_bytes[place];
}

/* Account for bytes of a body; false: the bodies of all clients, or of this one, would be too
 * large. */
static bool body_room(struct exchange *x, size_t more)
{
	struct http_server *s = x->server;
	uint64_t *own;
	bool room;

	pthread_mutex_lock(&s->mutex);
	own = sender_bytes(s, x->who);
	room = own && *own + more <= s->config.bodies_max / BODIES_SHARE &&
		s->stats.body_bytes + more <= s->config.bodies_max;
	if (room) {
		*own += more;
		s->stats.body_bytes += more;
		x->body_counted += more;
	}
	pthread_mutex_unlock(&s->mutex);
	return room;
}

static void exchange_free(struct exchange *x)
{
	pthread_mutex_lock(&x->server->mutex);
	x->server->stats.body_bytes -= x->body_counted;
	if (x->body_counted)
		*sender_bytes(x->server, x->who) -= x->body_counted; /* it is there */
	pthread_mutex_unlock(&x->server->mutex);
	strbuf_release(&x->body);
	strbuf_release(&x->answer.body);
	free(x);
}

static bool path_matches(const char *pattern, const char *path)
{
	size_t len = strlen(pattern);

	return !strcmp(pattern, path) ||
		(len && pattern[len - 1] == '/' && !strncmp(pattern, path, len));
}

/* The route with the longest matching path. `*ret_other_method`: there is a route, but for another
 * method. */
static const struct http_route *route_find(const struct http_server *s, const char *method,
	const char *path, void **ret_ctx, bool *ret_other_method)
{
	const struct http_route *best = NULL;

	*ret_other_method = false;
	for (unsigned t = 0; t < s->n_tables; t++) {
		for (const struct http_route *r = s->tables[t].routes; r->method; r++) {
			if (!path_matches(r->path, path))
				continue;
			if (strcmp(r->method, method) != 0) {
				*ret_other_method = true;
				continue;
			}
			if (best && strlen(best->path) >= strlen(r->path))
				continue;
			best = r;
			*ret_ctx = s->tables[t].ctx;
		}
	}
	return best;
}

static void header_add(struct MHD_Response *response, const char *name, const char *value)
{
	if (value && *value)
		MHD_add_response_header(response, name, value);
}

static void headers_add(struct MHD_Response *response, const struct http_answer *a)
{
	char retry[16];

	header_add(response, "Content-Type", a->type);
	header_add(response, "Cache-Control", a->cache ? a->cache : "no-store");
	header_add(response, "X-Content-Type-Options", "nosniff");
	header_add(response, "Content-Encoding", a->encoding);
	header_add(response, "ETag", a->etag);
	header_add(response, "Set-Cookie", a->cookie);
	header_add(response, "Location", a->location);
	if (a->status == MHD_HTTP_UNAUTHORIZED)
		header_add(response, "WWW-Authenticate", "Bearer");
	if (a->retry_after) {
		snprintf(retry, sizeof(retry), "%u", a->retry_after);
		header_add(response, "Retry-After", retry);
	}
	for (size_t i = 0; i < ARRAY_SIZE(a->extra); i++)
		header_add(response, a->extra[i].name ? a->extra[i].name : "", a->extra[i].value);
}

/* Make the response from an answer, and take its body. */
static struct MHD_Response *response_make(struct MHD_Connection *connection, struct http_answer *a)
{
	size_t len = a->body.len;
	char *text;

	if (a->stream)
		return http_hub_response(a->stream, connection, &a->body);
	if (a->fixed)
		return MHD_create_response_from_buffer(
			a->fixed_size, (void *)(uintptr_t)a->fixed, MHD_RESPMEM_PERSISTENT);
	text = strbuf_take(&a->body);
	return text ? MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE) : NULL;
}

/* Send an answer and release it. */
static enum MHD_Result answer_send(
	struct exchange *x, struct MHD_Connection *connection, struct http_answer *a)
{
	struct MHD_Response *response = response_make(connection, a);
	enum MHD_Result done;

	if (!response && a->stream) {
		http_fail(a, MHD_HTTP_SERVICE_UNAVAILABLE, "too many clients are listening");
		response = response_make(connection, a);
	}
	strbuf_release(&a->body);
	if (!response)
		return MHD_NO;
	headers_add(response, a);
	if (a->stream)
		http_watch_stream(x->server->watch, x->conn);
	done = MHD_queue_response(connection, a->status, response);
	MHD_destroy_response(response);
	return done;
}

/* Identify and authorize the peer. If that fails, it fills in the answer. */
static bool peer_check(struct exchange *x, struct MHD_Connection *connection, struct http_answer *a)
{
	struct http_server *s = x->server;
	struct http_peer peer = {0};
	char token[HTTP_TOKEN_MAX];
	struct lp_err err = {0};
	int r;

	if (x->route->needs == HTTP_OPEN)
		return true;
	http_peer_find(connection, x->conn, token, &peer);
	if (!http_peer_same_origin(connection)) {
		count(s, &s->stats.refused_forbidden);
		http_fail(a, MHD_HTTP_FORBIDDEN, "requests of other sites' pages are refused");
		return false;
	}
	r = s->config.authorize
		? s->config.authorize(s->config.authorize_ctx, x->route->needs, &peer, x->who, &err)
		: 0;
	explicit_bzero(token, sizeof(token));
	if (r == 0) {
		http_watch_known(s->watch, x->conn);
		return true;
	}
	count(s, r == -EPERM ? &s->stats.refused_forbidden : &s->stats.refused_token);
	http_fail(a, r == -EPERM ? MHD_HTTP_FORBIDDEN : MHD_HTTP_UNAUTHORIZED, "%s", err.text);
	return false;
}

/* Is the announced body acceptable? If not, it fills in the answer. */
static bool body_check(struct exchange *x, struct MHD_Connection *connection, struct http_answer *a)
{
	struct http_server *s = x->server;
	const char *length = MHD_lookup_connection_value(
		connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
	bool chunked = MHD_lookup_connection_value(
		connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_TRANSFER_ENCODING);

	if (chunked) {
		http_fail(a, MHD_HTTP_LENGTH_REQUIRED, "a body needs a Content-Length");
		return false;
	}
	x->body_expected = length ? strtoull(length, NULL, 10) : 0;
	if (x->body_expected <= x->route->body_max)
		return true;
	count(s, &s->stats.refused_too_large);
	http_fail(a, MHD_HTTP_CONTENT_TOO_LARGE,
		"a body of %" PRIu64 " bytes is too large (at most %zu)", x->body_expected,
		x->route->body_max);
	return false;
}

static struct http_request request_of(const struct exchange *x, struct MHD_Connection *connection,
	const char *method, const char *path)
{
	return (struct http_request){.method = method,
		.path = path,
		.rest = path + strlen(x->route->path),
		.who = x->who,
		.body = x->body.text ? x->body.text : "",
		.body_size = x->body.len,
		.connection = connection};
}

/* Handle a request when its headers have arrived. True: continue; false: the answer has the
 * reason. */
static bool request_begin(struct exchange *x, struct MHD_Connection *connection, const char *method,
	const char *path, struct http_answer *a)
{
	struct http_server *s = x->server;
	struct http_request rq;
	bool other_method;

	count(s, &s->stats.requests);
	x->route = route_find(s, method, path, &x->ctx, &other_method);
	if (!x->route) {
		count(s, &s->stats.refused_not_found);
		if (other_method)
			http_fail(
				a, MHD_HTTP_METHOD_NOT_ALLOWED, "%s is not possible here", method);
		else
			http_fail(a, MHD_HTTP_NOT_FOUND, "there is nothing here");
		return false;
	}
	if (!peer_check(x, connection, a) || !body_check(x, connection, a))
		return false;
	if (!x->route->before_body)
		return true;
	rq = request_of(x, connection, method, path);
	a->status = 0;
	x->route->before_body(x->ctx, &rq, a);
	if (a->status)
		return false;
	a->status = MHD_HTTP_OK;
	return true;
}

/* Handle a piece of the body. Data that cannot be kept is read and dropped, so that the client gets
 * an answer. */
static void body_take(struct exchange *x, const char *data, size_t size)
{
	if (x->no_room)
		return;
	if (x->body.len + size <= x->body_expected && body_room(x, size)) {
		strbuf_add(&x->body, data, size);
		x->no_room = x->body.failed;
	} else {
		x->no_room = true;
	}
	if (x->no_room)
		strbuf_release(&x->body);
}

static struct http_answer answer_new(void)
{
	return (struct http_answer){.status = MHD_HTTP_OK, .type = "application/json"};
}

/* Let the handler answer. */
static void request_handle(struct exchange *x, struct MHD_Connection *connection,
	const char *method, const char *path, struct http_answer *a)
{
	struct http_request rq = request_of(x, connection, method, path);

	x->route->handle(x->ctx, &rq, a);
	if (a->body.failed)
		http_fail(a, MHD_HTTP_SERVICE_UNAVAILABLE, "there is no memory for that");
}

/* Runs in a thread for slow work, while the connection is suspended. */
static void request_work(void *arg)
{
	struct exchange *x = arg;

	request_handle(x, x->connection, x->method, x->path, &x->answer);
	x->answered = true;
	MHD_resume_connection(x->connection);
}

/* Pass the request to a thread for slow work. libmicrohttpd calls again when it is answered. */
static bool request_put_off(
	struct exchange *x, struct MHD_Connection *connection, const char *method, const char *path)
{
	x->connection = connection;
	x->method = method;
	x->path = path;
	x->answer = answer_new();
	MHD_suspend_connection(connection);
	if (http_slow_push(x->server->slow, request_work, x) == 0)
		return true;
	http_fail(&x->answer, MHD_HTTP_SERVICE_UNAVAILABLE, "too many expensive requests at once");
	x->answer.retry_after = 1;
	x->answered = true;
	MHD_resume_connection(connection);
	return true;
}

static enum MHD_Result request_finish(
	struct exchange *x, struct MHD_Connection *connection, const char *method, const char *path)
{
	struct http_server *s = x->server;
	struct http_answer a = answer_new();

	if (x->answered) {
		x->answered = false;
		a = x->answer;
		x->answer = (struct http_answer){0};
	} else if (x->no_room) {
		count(s, &s->stats.refused_busy);
		http_fail(&a, MHD_HTTP_SERVICE_UNAVAILABLE,
			"too much data is being received, from you or in total");
		a.retry_after = 1;
	} else if (x->route->slow && request_put_off(x, connection, method, path)) {
		return MHD_YES;
	} else {
		request_handle(x, connection, method, path, &a);
	}
	return answer_send(x, connection, &a);
}

/* libmicrohttpd calls it when the headers have arrived, for each piece of the body, and at its
 * end. */
static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *path,
	const char *method, const char *version, const char *data, size_t *data_size, void **state)
{
	struct exchange *x = *state;

	(void)ctx;
	(void)version;
	if (!strcmp(method, MHD_HTTP_METHOD_HEAD))
		method = MHD_HTTP_METHOD_GET;
	if (!x)
		return MHD_NO;
	if (!x->route) { /* the first call */
		struct http_answer a = answer_new();

		if (request_begin(x, connection, method, path, &a))
			return MHD_YES;
		return answer_send(x, connection, &a);
	}
	if (*data_size) {
		body_take(x, data, *data_size);
		*data_size = 0;
		return MHD_YES;
	}
	return request_finish(x, connection, method, path);
}

/* The first line of a request has arrived. Returns the exchange. */
static void *on_begin(void *ctx, const char *uri, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct exchange *x = calloc(1, sizeof(*x));

	(void)uri;
	if (!x || !info || !info->socket_context) {
		free(x);
		return NULL;
	}
	x->server = ctx;
	x->conn = info->socket_context;
	http_watch_begin(x->server->watch, x->conn);
	return x;
}

static void on_completed(void *ctx, struct MHD_Connection *connection, void **state,
	enum MHD_RequestTerminationCode toe)
{
	struct http_server *s = ctx;
	struct exchange *x = *state;

	(void)connection;
	if (!x)
		return;
	/* A client of a stream may leave at any time. */
	if (toe != MHD_REQUEST_TERMINATED_COMPLETED_OK &&
		toe != MHD_REQUEST_TERMINATED_DAEMON_SHUTDOWN && !x->conn->streams)
		count(s, &s->stats.aborted);
	http_watch_end(s->watch, x->conn);
	exchange_free(x);
	*state = NULL;
}

static void on_connection(void *ctx, struct MHD_Connection *connection, void **socket_context,
	enum MHD_ConnectionNotificationCode toe)
{
	struct http_server *s = ctx;

	if (toe == MHD_CONNECTION_NOTIFY_STARTED) {
		const union MHD_ConnectionInfo *info =
			MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

		*socket_context = info ? http_watch_add(s->watch, info->connect_fd) : NULL;
	} else {
		http_watch_remove(s->watch, *socket_context);
		*socket_context = NULL;
	}
}

/* Messages of libmicrohttpd are about clients that do not speak TLS or HTTP; these are counted
 * elsewhere. */
static void on_log(void *ctx, const char *fmt, va_list args)
{
	(void)ctx;
	(void)fmt;
	(void)args;
}

/* Raise the limit of descriptors, as far as the system permits. */
static void descriptors_raise(struct http_server *s)
{
	struct rlimit limit;
	rlim_t want = (rlim_t)s->config.connections_max * 2 + SPARE_DESCRIPTORS;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= want)
		return;
	limit.rlim_cur = limit.rlim_max < want ? limit.rlim_max : want;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur >= want || limit.rlim_cur <= 2 * SPARE_DESCRIPTORS)
		return;
	s->config.connections_max = (unsigned)((limit.rlim_cur - SPARE_DESCRIPTORS) / 2);
	if (s->config.connections_max >= FEW_CONNECTIONS)
		return;
	lp_warn_raise(s->config.warn,
		"at most %u connections: only %" PRIu64
		" files may be open (LimitNOFILE=, ulimit -n)",
		s->config.connections_max, (uint64_t)limit.rlim_cur);
}

/* not fuzzed: GnuTLS reads the administrator's files. */
static int tls_load(struct http_server *s, struct lp_err *err)
{
	const struct http_config *c = &s->config;
	size_t size;
	int r = 0;

	if (!c->tls_cert_file != !c->tls_key_file)
		return lp_err_set(err, -EINVAL, "TLS needs both a certificate and a key");
	if (c->tls_client_ca_file && !c->tls_cert_file)
		return lp_err_set(err, -EINVAL, "client certificates need TLS");
	if (c->tls_cert_file)
		r = file_slurp(c->tls_cert_file, TLS_FILE_MAX, &s->cert, &size, err);
	if (r == 0 && c->tls_key_file)
		r = file_slurp(c->tls_key_file, TLS_FILE_MAX, &s->key, &size, err);
	if (r == 0 && c->tls_client_ca_file)
		r = file_slurp(c->tls_client_ca_file, TLS_FILE_MAX, &s->ca, &size, err);
	return r;
}

int http_open(const struct http_config *config, struct http_server **ret, struct lp_err *err)
{
	struct http_server *s = calloc(1, sizeof(*s));
	char where[96];
	int r;

	if (!s)
		return lp_err_sys(err, -ENOMEM, "cannot serve");
	s->config = *config;
	s->listen_fd = -1;
	if (!s->config.connections_max)
		s->config.connections_max = HTTP_CONNECTIONS_MAX;
	if (!s->config.bodies_max)
		s->config.bodies_max = HTTP_BODIES_MAX;
	pthread_mutex_init(&s->mutex, NULL);
	descriptors_raise(s);
	r = tls_load(s, err);
	if (r == 0)
		r = http_watch_new(s->config.connections_max, &s->watch, err);
	if (r == 0)
		r = http_slow_new(SLOW_THREADS, &s->slow, err);
	if (r == 0)
		r = s->listen_fd =
			http_listen(config->listen, where, sizeof(where), &s->loopback, err);
	if (r >= 0 && !s->loopback && !s->cert)
		r = lp_err_set(err, -EINVAL,
			"%s can be reached from other machines: that needs TLS (--tls-cert, "
			"--tls-key); without it, listen on 127.0.0.1",
			where);
	if (r < 0) {
		http_close(s);
		return r;
	}
	snprintf(s->url, sizeof(s->url), "%s://%s", s->cert ? "https" : "http", where);
	*ret = s;
	return 0;
}

int http_add_routes(struct http_server *s, const struct http_route *routes, void *ctx)
{
	if (s->n_tables == TABLES_MAX)
		return -ENOSPC;
	s->tables[s->n_tables++] = (struct table){routes, ctx};
	return 0;
}

int http_add_hub(struct http_server *s, struct http_hub *hub)
{
	return http_watch_hub(s->watch, hub);
}

int http_start(struct http_server *s, struct lp_err *err)
{
	unsigned flags =
		MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
	struct MHD_OptionItem tls[5] = {{MHD_OPTION_END, 0, NULL}};
	unsigned n = 0;

	if (s->cert) {
		flags |= MHD_USE_TLS;
		tls[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, s->cert};
		tls[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, s->key};
		tls[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0,
			"SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"};
		if (s->ca)
			tls[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_TRUST, 0, s->ca};
		tls[n] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
	}
	s->daemon = MHD_start_daemon(flags, 0, NULL, NULL, on_request, s,
		MHD_OPTION_EXTERNAL_LOGGER, on_log, s, MHD_OPTION_LISTEN_SOCKET, s->listen_fd,
		MHD_OPTION_THREAD_POOL_SIZE, (unsigned)THREADS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_LIMIT, s->config.connections_max,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENCE_SEC, MHD_OPTION_NOTIFY_CONNECTION,
		on_connection, s, MHD_OPTION_URI_LOG_CALLBACK, on_begin, s,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, s, MHD_OPTION_ARRAY, tls,
		MHD_OPTION_END);
	if (!s->daemon)
		return lp_err_set(err, -EINVAL, "cannot serve %s%s", s->url,
			s->cert ? ": are the certificate and the key right (PEM, and of each "
				  "other)?"
				: "");
	s->listen_fd = -1; /* the daemon closes it */
	return 0;
}

const char *http_url(const struct http_server *s)
{
	return s->url;
}

void http_get_stats(struct http_server *s, struct http_stats *ret)
{
	pthread_mutex_lock(&s->mutex);
	*ret = s->stats;
	pthread_mutex_unlock(&s->mutex);
	http_watch_count(s->watch, &ret->connections, &ret->cut_slow);
}

void http_close(struct http_server *s)
{
	if (!s)
		return;
	if (s->watch)
		http_watch_close_hubs(s->watch);
	/* Suspended connections must be resumed before the daemon can stop. */
	http_slow_stop(s->slow);
	if (s->daemon)
		MHD_stop_daemon(s->daemon);
	http_slow_free(s->slow);
	if (s->listen_fd >= 0)
		close(s->listen_fd);
	http_watch_free(s->watch);
	if (s->key)
		explicit_bzero(s->key, strlen(s->key));
	strmap_release(&s->senders);
	free(s->sender_bytes);
	free(s->cert);
	free(s->key);
	free(s->ca);
	pthread_mutex_destroy(&s->mutex);
	free(s);
}
