/* Many servers from one process: speaks the protocol of `limpet record --send` to a collector.
 *
 *     serve_load [-n SERVERS] [-c DISKS] [-t SECONDS] [-j THREADS] [-p PREFIX] [-a CA.pem] [-f
 * SECOND]
 *                [-T TOKENS] HOST PORT
 *
 * Each server sends a sample of its disks every second, as frames of an archive, over its own
 * permanent connection, at its own instant within the second. TOKENS is a file with a line "NAME
 * TOKEN" for each. With -a it speaks TLS. From -f on one disk (PREFIX7, d3) is 8 times as slow.
 *
 * All data is encoded before the clock starts, for 16 kinds of servers and the slow one, so that
 * the generator costs little compared with the collector. Prints one line of JSON: requests,
 * failures, times of answers (ms), how far the generator itself was behind (s), bytes, and its own
 * CPU time (s). */
#include "archive/frames.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "clock.h"
#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <inttypes.h>
#include <limpet/archive.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define VARIANTS 16
#define SLOW_SERVER 7
#define SLOW_DISK 3
#define BUCKETS 400 /* of times of answers: each 5% longer than the previous one, from 10 us on */

enum { RD_IOS, RD_SEC, RD_TICKS, WR_IOS, WR_SEC, WR_TICKS, COLUMNS };

static const struct lp_column columns[] = {{"rd_ios", "requests", LP_COUNTER, 64},
	{"rd_sec", "sectors", LP_COUNTER, 64}, {"rd_ticks", "ms", LP_COUNTER, 32},
	{"wr_ios", "requests", LP_COUNTER, 64}, {"wr_sec", "sectors", LP_COUNTER, 64},
	{"wr_ticks", "ms", LP_COUNTER, 32}};
static const struct lp_schema schema = {"disk", columns, COLUMNS};

struct options {
	unsigned servers, disks, seconds, threads, slow_from;
	const char *prefix, *ca, *tokens, *host;
	unsigned port;
};

/* The data frames of one kind of server, one per second. */
struct variant {
	struct strbuf *frames;
};

struct server {
	char name[64], token[128], file[128];
	struct strbuf catalogue;
	const struct variant *variant;
	int fd;
	gnutls_session_t tls;
	uint64_t n_frames;
	uint32_t sum;
	bool broken;
};

struct load {
	struct options opt;
	struct variant variants[VARIANTS + 1];
	struct server *servers;
	int64_t start_us;
	double begin; /* by a steady clock */
	gnutls_certificate_credentials_t credentials;
	pthread_mutex_t mutex;
	uint64_t requests, failures, bytes, histogram[BUCKETS];
	double behind;
};

struct worker {
	struct load *load;
	unsigned number;
	pthread_t thread;
	uint64_t requests, failures, bytes, histogram[BUCKETS];
	double behind;
};

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "serve_load: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double noise(unsigned *seed)
{
	return 0.9 + 0.2 * rand_r(seed) / RAND_MAX;
}

/* One more sample of all disks. */
static void sample_add(struct lp_batch *b, int64_t wall_us, unsigned disks, int64_t *counters,
	unsigned *seed, bool slow)
{
	struct lp_batch_kind *k;
	uint32_t row;

	if (lp_batch_add_sample(b, wall_us, wall_us) < 0 ||
		lp_batch_kind_get(b, 0, COLUMNS, NULL, &k) < 0)
		die("a sample");
	while (k->n_components < disks)
		lp_batch_add_component(b, k, k->n_components, &row);
	for (unsigned d = 0; d < disks; d++) {
		size_t cell = (size_t)d * b->cap_samples + b->n_samples - 1;
		int64_t *c = counters + (size_t)d * COLUMNS;
		double ios = 100 * noise(seed), ms = slow && d == SLOW_DISK ? 64 : 8;

		c[RD_IOS] += (int64_t)ios;
		c[RD_SEC] += (int64_t)ios * 256;
		c[RD_TICKS] += (int64_t)(ios * ms * noise(seed));
		c[WR_IOS] += (int64_t)ios;
		c[WR_SEC] += (int64_t)ios * 256;
		c[WR_TICKS] += (int64_t)(ios * ms * noise(seed));
		k->state[cell] = LP_PRESENT;
		for (int column = 0; column < COLUMNS; column++)
			k->columns[column][cell] = c[column];
	}
}

static struct lp_catalogue *catalogue_make(const char *observer, unsigned disks)
{
	struct lp_catalogue *c = lp_catalogue_new();
	uint32_t number, id;
	char name[16];

	if (!c || lp_catalogue_add_schema(c, &schema, &number, NULL) < 0)
		die("a catalogue");
	for (unsigned d = 0; d < disks; d++) {
		snprintf(name, sizeof(name), "d%u", d);
		if (lp_catalogue_add_component(c, number, observer, name, "", &id, NULL) < 0)
			die("a catalogue");
	}
	return c;
}

/* Call `take` for the frames of one type in a file that was just written. */
static void frames_each(const char *path, uint8_t type, struct strbuf *ret, unsigned max)
{
	struct lp_err err = {0};
	char *bytes;
	size_t size, at = FILE_HEADER_SIZE;
	unsigned n = 0;

	if (file_slurp(path, (size_t)1 << 30, &bytes, &size, &err) < 0)
		die(err.text);
	while (at + FRAME_HEADER_SIZE <= size && n < max) {
		struct frame f;

		if (!format_get_frame((uint8_t *)bytes + at, &f))
			die("a frame");
		if (f.type == type)
			strbuf_add(&ret[n++], bytes + at, FRAME_HEADER_SIZE + f.payload_size);
		at += FRAME_HEADER_SIZE + f.payload_size;
	}
	free(bytes);
}

static void variant_make(struct load *l, unsigned number, const char *path)
{
	const struct lp_archive_meta meta = {.observer = "x", .interval_us = US_PER_SEC};
	struct variant *v = &l->variants[number];
	struct lp_catalogue *c = catalogue_make("x", l->opt.disks);
	struct lp_batch *b = lp_batch_new(2), *next = lp_batch_new(2), *swap;
	int64_t *counters = calloc((size_t)l->opt.disks * COLUMNS, sizeof(*counters));
	struct lp_archive_writer *w;
	struct lp_err err = {0};
	unsigned seed = number + 1;

	v->frames = calloc(l->opt.seconds, sizeof(*v->frames));
	unlink(path);
	if (!b || !next || !counters || lp_archive_create(path, &meta, &w, &err) < 0)
		die(err.text);
	for (unsigned t = 0; t < l->opt.seconds; t++) {
		bool slow = number == VARIANTS && l->opt.slow_from && t >= l->opt.slow_from;

		sample_add(b, l->start_us + t * US_PER_SEC, l->opt.disks, counters, &seed, slow);
		if (lp_archive_write(w, c, b, LP_ARCHIVE_LOOSE, &err) < 0 ||
			lp_batch_carry(next, b) < 0)
			die(err.text);
		swap = b;
		b = next;
		next = swap;
	}
	lp_archive_abandon(w);
	frames_each(path, FRAME_DATA, v->frames, l->opt.seconds);
	unlink(path);
	free(counters);
	lp_batch_free(b);
	lp_batch_free(next);
	lp_catalogue_free(c);
}

/* The first data of a server: its catalogue. */
static void server_make(struct load *l, struct server *s, unsigned number, const char *path)
{
	struct lp_archive_meta meta = {.interval_us = US_PER_SEC, .observer = s->name};
	struct lp_catalogue *c;
	struct lp_batch nothing = {0};
	struct lp_archive_writer *w;
	struct lp_err err = {0};
	char stamp[TIME_TEXT_MAX];

	snprintf(s->name, sizeof(s->name), "%s%u", l->opt.prefix, number);
	snprintf(s->file, sizeof(s->file), "%s-%s.lpa", s->name,
		time_format_compact(l->start_us, stamp));
	s->fd = -1;
	s->variant = &l->variants[number == SLOW_SERVER ? VARIANTS : number % VARIANTS];
	c = catalogue_make(s->name, l->opt.disks);
	unlink(path);
	if (lp_archive_create(path, &meta, &w, &err) < 0 ||
		lp_archive_write(w, c, &nothing, LP_ARCHIVE_LOOSE, &err) < 0)
		die(err.text);
	lp_archive_abandon(w);
	frames_each(path, FRAME_CATALOGUE, &s->catalogue, 1);
	unlink(path);
	lp_catalogue_free(c);
}

static void tokens_read(struct load *l)
{
	FILE *f = l->opt.tokens ? fopen(l->opt.tokens, "re") : NULL;
	char name[64], token[128];

	while (f && fscanf(f, "%63s %127s", name, token) == 2) {
		for (unsigned i = 0; i < l->opt.servers; i++) {
			if (!strcmp(l->servers[i].name, name))
				snprintf(l->servers[i].token, sizeof(token), "%s", token);
		}
	}
	if (f)
		fclose(f);
}

static void server_connect(struct load *l, struct server *s)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)l->opt.port)};
	const int on = 1;

	inet_pton(AF_INET, l->opt.host, &to.sin_addr);
	s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (s->fd < 0 || connect(s->fd, (struct sockaddr *)&to, sizeof(to)) < 0) {
		s->broken = true;
		return;
	}
	if (!l->credentials)
		return;
	gnutls_init(&s->tls, GNUTLS_CLIENT);
	gnutls_set_default_priority(s->tls);
	gnutls_credentials_set(s->tls, GNUTLS_CRD_CERTIFICATE, l->credentials);
	gnutls_transport_set_int(s->tls, s->fd);
	s->broken = gnutls_handshake(s->tls) < 0;
}

static bool all_sent(struct server *s, const char *p, size_t n)
{
	while (n) {
		ssize_t done =
			s->tls ? gnutls_record_send(s->tls, p, n) : send(s->fd, p, n, MSG_NOSIGNAL);

		if (done <= 0)
			return false;
		p += done;
		n -= (size_t)done;
	}
	return true;
}

/* The status of the answer; 0: no answer. */
static int answer_read(struct server *s)
{
	char buf[4096];
	size_t have = 0;

	for (;;) {
		ssize_t n = s->tls ? gnutls_record_recv(s->tls, buf + have, sizeof(buf) - 1 - have)
				   : recv(s->fd, buf + have, sizeof(buf) - 1 - have, 0);
		const char *end, *length;

		if (n <= 0)
			return 0;
		have += (size_t)n;
		buf[have] = '\0';
		end = strstr(buf, "\r\n\r\n");
		length = strstr(buf, "Content-Length: ");
		if (end && length &&
			have >= (size_t)(end + 4 - buf) + strtoul(length + 16, NULL, 10))
			return (int)strtol(buf + 9, NULL, 10);
	}
}

/* Send the data of a server for second `t`: true if it was accepted. */
static bool server_send(struct server *s, unsigned t, uint64_t *bytes)
{
	const struct strbuf *data = &s->variant->frames[t];
	size_t size = data->len + (s->n_frames ? 0 : s->catalogue.len);
	struct strbuf rq = {0};
	struct frame f;
	bool done;

	strbuf_printf(&rq,
		"PUT /api/v1/ingest/%s/%s?from=%" PRIu64 "&sum=%08" PRIx32 " HTTP/1.1\r\n"
		"Host: 127.0.0.1\r\n%s%s%sContent-Length: %zu\r\n\r\n",
		s->name, s->file, s->n_frames, s->sum, s->token[0] ? "Authorization: Bearer " : "",
		s->token, s->token[0] ? "\r\n" : "", size);
	if (!s->n_frames)
		strbuf_add(&rq, s->catalogue.text, s->catalogue.len);
	strbuf_add(&rq, data->text, data->len);
	done = all_sent(s, rq.text, rq.len) && answer_read(s) == 200;
	strbuf_release(&rq);
	if (!done)
		return false;
	if (!s->n_frames && format_get_frame((uint8_t *)s->catalogue.text, &f)) {
		s->sum = frame_sum(s->sum, &f);
		s->n_frames++;
	}
	if (format_get_frame((uint8_t *)data->text, &f)) {
		s->sum = frame_sum(s->sum, &f);
		s->n_frames++;
	}
	*bytes += size;
	return true;
}

static void sleep_until(double when)
{
	double left = when - seconds();
	struct timespec ts = {
		.tv_sec = (time_t)left, .tv_nsec = (long)((left - floor(left)) * 1e9)};

	if (left > 0)
		nanosleep(&ts, NULL);
}

static void one_request(struct worker *w, struct server *s, unsigned t, double due)
{
	double began = seconds(), took;
	int bucket;

	if (began - due > w->behind)
		w->behind = began - due;
	if (s->fd < 0)
		server_connect(w->load, s);
	w->requests++;
	if (s->broken || !server_send(s, t, &w->bytes)) {
		w->failures++;
		s->broken = true;
		return;
	}
	took = seconds() - began;
	bucket = took > 1e-5 ? (int)(log(took / 1e-5) / log(1.05)) : 0;
	w->histogram[bucket < BUCKETS ? bucket : BUCKETS - 1]++;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct load *l = w->load;

	for (unsigned t = 0; t < l->opt.seconds; t++) {
		for (unsigned i = w->number; i < l->opt.servers; i += l->opt.threads) {
			double due = l->begin + t + (double)i / l->opt.servers;

			sleep_until(due);
			one_request(w, &l->servers[i], t, due);
		}
	}
	return NULL;
}

static double quantile(const struct load *l, double q)
{
	uint64_t n = 0, seen = 0;

	for (int i = 0; i < BUCKETS; i++)
		n += l->histogram[i];
	for (int i = 0; i < BUCKETS; i++) {
		seen += l->histogram[i];
		if ((double)seen >= q * (double)n)
			return 1e-5 * pow(1.05, i + 1) * 1e3;
	}
	return 0;
}

static void run(struct load *l)
{
	struct worker *workers = calloc(l->opt.threads, sizeof(*workers));

	for (unsigned i = 0; i < l->opt.threads; i++) {
		workers[i] = (struct worker){.load = l, .number = i};
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			die("a thread");
	}
	for (unsigned i = 0; i < l->opt.threads; i++) {
		struct worker *w = &workers[i];

		pthread_join(w->thread, NULL);
		l->requests += w->requests;
		l->failures += w->failures;
		l->bytes += w->bytes;
		l->behind = w->behind > l->behind ? w->behind : l->behind;
		for (int b = 0; b < BUCKETS; b++)
			l->histogram[b] += w->histogram[b];
	}
	free(workers);
}

static struct options options_read(int argc, char **argv)
{
	struct options o = {
		.servers = 100, .disks = 50, .seconds = 60, .threads = 8, .prefix = "n"};
	int letter;

	while ((letter = getopt(argc, argv, "n:c:t:j:p:a:f:T:")) != -1) {
		switch (letter) {
		case 'n':
			o.servers = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'c':
			o.disks = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 't':
			o.seconds = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'j':
			o.threads = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'p':
			o.prefix = optarg;
			break;
		case 'a':
			o.ca = optarg;
			break;
		case 'f':
			o.slow_from = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'T':
			o.tokens = optarg;
			break;
		default:
			exit(2);
		}
	}
	if (argc - optind != 2 || !o.servers || !o.disks || !o.seconds || !o.threads) {
		fprintf(stderr, "usage: serve_load [OPTION...] HOST PORT\n");
		exit(2);
	}
	o.host = argv[optind];
	o.port = (unsigned)strtoul(argv[optind + 1], NULL, 10);
	return o;
}

int main(int argc, char **argv)
{
	struct load l = {.opt = options_read(argc, argv)};
	struct rlimit files = {.rlim_cur = l.opt.servers + 64};
	char path[64];
	double cpu;

	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	snprintf(path, sizeof(path), "/dev/shm/serve_load-%d.lpa", (int)getpid());
	if (l.opt.ca) {
		gnutls_certificate_allocate_credentials(&l.credentials);
		gnutls_certificate_set_x509_trust_file(
			l.credentials, l.opt.ca, GNUTLS_X509_FMT_PEM);
	}
	/* Encoding takes some time: the first sample has about the time at which that is done. */
	l.start_us = (clock_us(CLOCK_REALTIME) / US_PER_SEC + 1 +
			     (int64_t)l.opt.seconds * l.opt.disks / 20000) *
		US_PER_SEC;
	for (unsigned i = 0; i <= VARIANTS; i++)
		variant_make(&l, i, path);
	l.servers = calloc(l.opt.servers, sizeof(*l.servers));
	for (unsigned i = 0; i < l.opt.servers; i++)
		server_make(&l, &l.servers[i], i, path);
	tokens_read(&l);
	cpu = cpu_seconds();
	l.begin = seconds() + (double)(l.start_us - clock_us(CLOCK_REALTIME)) / 1e6;
	if (l.begin < seconds())
		l.begin = seconds();
	run(&l);
	printf("{\"servers\":%u,\"disks\":%u,\"seconds\":%u,\"requests\":%" PRIu64
	       ",\"failures\":%" PRIu64
	       ",\"p50_ms\":%.2f,\"p99_ms\":%.2f,\"max_ms\":%.1f,\"behind_s\":%.2f"
	       ",\"bytes\":%" PRIu64 ",\"generator_cpu_s\":%.2f}\n",
		l.opt.servers, l.opt.disks, l.opt.seconds, l.requests, l.failures,
		quantile(&l, 0.5), quantile(&l, 0.99), quantile(&l, 1), l.behind, l.bytes,
		cpu_seconds() - cpu);
	return l.failures ? 1 : 0;
}
