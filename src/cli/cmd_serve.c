#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/stop.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "serve/credential.h"
#include "serve/serve.h"
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

struct serve_options {
	const char *data, *listen, *topology, *expect, *speed, *alerts;
	struct option_list replay;
	int64_t look_back_us;
	const char *tls_cert, *tls_key, *client_ca;
	uint64_t connections;
	int64_t keep_age_us;
	uint64_t keep_bytes;
	const char *push, *push_config;
	int64_t push_backlog_us;
	bool quiet;
};

#define AT(member) offsetof(struct serve_options, member)

static const struct option_def options[] = {
	{"data", 0, OPTION_STRING, AT(data), "DIR",
		"directory for the archives of all servers and the collector's own files"},
	{"listen", 0, OPTION_STRING, AT(listen), "ADDRESS:PORT",
		"where to listen; an address that other machines can reach needs --tls-cert "
		"[" SERVE_LISTEN "]"},
	{"tls-cert", 0, OPTION_STRING, AT(tls_cert), "FILE",
		"the collector's certificate and its chain (PEM) [plain HTTP]"},
	{"tls-key", 0, OPTION_STRING, AT(tls_key), "FILE", "its key (PEM)"},
	{"client-ca", 0, OPTION_STRING, AT(client_ca), "FILE",
		"authority that signs the servers' certificates (PEM): a server may then show one "
		"instead of a token; its name is the certificate's [none]"},
	{"topology", 0, OPTION_STRING, AT(topology), "FILE",
		"topology file: how servers, controllers and racks are connected [none]"},
	{"expect", 0, OPTION_STRING, AT(expect), "FILE",
		"names of servers that should report, one per line [those that have]"},
	{"connections", 0, OPTION_UINT, AT(connections), "N",
		"how many clients may be connected [16384, or half of the open files allowed]"},
	{"keep", 0, OPTION_SPAN, AT(keep_age_us), "SPAN",
		"remove archives older than this [never]"},
	{"keep-bytes", 0, OPTION_BYTES, AT(keep_bytes), "SIZE",
		"remove the oldest archives of a server beyond this size [never]"},
	{"alerts", 0, OPTION_STRING, AT(alerts), "FILE",
		"file that says where alerts go: Alertmanager, webhooks, commands (see "
		"docs/alerts.md); 'limpet serve test-alert' tries it [none]"},
	{"remote-write", 0, OPTION_STRING, AT(push), "URL",
		"also send what servers record to Prometheus, VictoriaMetrics or another receiver "
		"of "
		"remote write [none]"},
	{"remote-write-config", 0, OPTION_STRING, AT(push_config), "FILE",
		"password, token and TLS for it, in the form of Prometheus' http_config [none]"},
	{"remote-write-backlog", 0, OPTION_SPAN, AT(push_backlog_us), "SPAN",
		"send samples up to this age, after the receiver was away; also at the first start "
		"[1d, and nothing old at the first start]"},
	{"look-back", 0, OPTION_SPAN, AT(look_back_us), "SPAN",
		"how much of the archives to diagnose again after a start [1d]"},
	{"replay", 0, OPTION_LIST, AT(replay), "DATA",
		"replay recordings instead of receiving data; may be repeated"},
	{"speed", 0, OPTION_STRING, AT(speed), "N", "replay them N times as fast [1]"},
	{"quiet", 'q', OPTION_FLAG, AT(quiet), NULL, "print nothing but errors"},
	{NULL},
};

DEFINE_CLEANUP(struct serve *, serve_close);

/* A verdict on many thousands of components needs large blocks of memory for a moment, between
 * small blocks that stay. Large blocks return to the system immediately if they do not come from
 * the heap. Huge pages must not fill tables of which only a few rows are read. */
#define LARGE_BYTES (256 << 10)

static void memory_prepare(void)
{
	mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
	mallopt(M_ARENA_MAX, 2);
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
}

static int serve_until_stopped(
	const struct serve_config *c, const struct serve_options *opt, struct lp_err *err)
{
	_cleanup_(serve_closep) struct serve *s = NULL;
	int r;

	stop_catch();
	memory_prepare();
	r = serve_open(c, &s, err);
	if (r < 0)
		return r;
	if (!opt->quiet && c->replay)
		fprintf(stderr, "serving %s, a replay; Ctrl-C stops\n", http_url(s->http));
	else if (!opt->quiet)
		fprintf(stderr, "serving %s, archives in %s; Ctrl-C stops\n", http_url(s->http),
			c->data);
	while (!stop_signal)
		poll(NULL, 0, 200);
	return 0;
}

DEFINE_CLEANUP(struct lp_dataset *, lp_dataset_close);

#define SPEED_MAX 1e6

static int speed_parse(const char *text, double *ret, struct lp_err *err)
{
	char *end = NULL;

	*ret = text ? strtod(text, &end) : 1;
	if ((text && (end == text || *end)) || !(*ret > 0 && *ret <= SPEED_MAX))
		return lp_err_set(err, -EINVAL,
			"--speed: '%.64s' is not a number above 0 and up to a million", text);
	return 0;
}

static int usage_check(const struct serve_options *opt, int n_args, char **args, struct lp_err *err)
{
	if (n_args)
		return lp_err_set(err, -EINVAL,
			"unexpected argument '%s' (see 'limpet help serve')", args[0]);
	if (!opt->data && !opt->replay.n)
		return lp_err_set(err, -EINVAL, "--data DIR is missing (see 'limpet help serve')");
	if (opt->speed && !opt->replay.n)
		return lp_err_set(err, -EINVAL, "--speed is for --replay");
	if (opt->push && opt->replay.n)
		return lp_err_set(err, -EINVAL, "--remote-write is not for --replay");
	if (!opt->push && (opt->push_config || opt->push_backlog_us))
		return lp_err_set(err, -EINVAL, "--%s is for --remote-write",
			opt->push_config ? "remote-write-config" : "remote-write-backlog");
	return 0;
}

/* Certificate, key and CA from systemd. */
struct tls_paths {
	char cert[PATH_MAX], key[PATH_MAX], ca[PATH_MAX];
};

/* Files that were not named come from the systemd unit, if it provides them. */
static void tls_find(struct tls_paths *p, struct serve_config *c)
{
	if (!c->tls_cert_file && !c->tls_key_file &&
		credential_find("limpet.cert", p->cert, sizeof(p->cert)) &&
		credential_find("limpet.key", p->key, sizeof(p->key))) {
		c->tls_cert_file = p->cert;
		c->tls_key_file = p->key;
	}
	if (!c->tls_client_ca_file && credential_find("limpet.client-ca", p->ca, sizeof(p->ca)))
		c->tls_client_ca_file = p->ca;
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct serve_options *opt = values;
	_cleanup_(lp_dataset_closep) struct lp_dataset *replay = NULL, *look = NULL, *past = NULL;
	struct lp_dataset **const replays[] = {&replay, &look, &past};
	struct lp_warn warn = {.warn = data_print_warning};
	struct serve_config c = {.data = opt->data,
		.listen = opt->listen,
		.tls_cert_file = opt->tls_cert,
		.tls_key_file = opt->tls_key,
		.tls_client_ca_file = opt->client_ca,
		.topology = opt->topology,
		.expect = opt->expect,
		.connections_max = opt->connections,
		.keep_age_us = opt->keep_age_us,
		.keep_bytes = opt->keep_bytes,
		.look_back_us = opt->look_back_us,
		.alerts = opt->alerts,
		.push_url = opt->push,
		.push_http_config = opt->push_config,
		.push_backlog_us = opt->push_backlog_us,
		.warn = &warn};
	struct tls_paths tls;
	int r = usage_check(opt, n_args, args, err);

	(void)data;
	tls_find(&tls, &c);
	if (r == 0)
		r = speed_parse(opt->speed, &c.speed, err);
	for (size_t i = 0; r == 0 && opt->replay.n && i < ARRAY_SIZE(replays); i++)
		r = lp_dataset_open(opt->replay.items, opt->replay.n, NULL, NULL, i ? NULL : &warn,
			replays[i], err);
	c.replay = replay;
	c.replay_look = look;
	c.replay_past = past;
	return command_exit_code(r < 0 ? r : serve_until_stopped(&c, opt, err));
}

#define X(name) extern const struct command serve_command_##name;
#include "cli/serve_commands.inc"
#undef X

static const struct command *const verbs[] = {
#define X(name) &serve_command_##name,
#include "cli/serve_commands.inc"
#undef X
	NULL,
};

static const struct example examples[] = {
	{"serve --data /var/lib/limpet-serve", "for this machine only"},
	{"serve enroll oss3 --data /var/lib/limpet-serve", "admit server oss3: prints its token"},
	{"serve --data /var/lib/limpet-serve --listen 0.0.0.0:9700 --tls-cert cert.pem --tls-key "
	 "key.pem",
		"for the whole fleet"},
	{"serve --data /var/lib/limpet-serve --remote-write http://127.0.0.1:9090/api/v1/write",
		"keep it in Prometheus as well"},
	{"serve --replay recordings/2026-11 --speed 60", "replay the past, one hour per minute"},
	{NULL, NULL},
};

extern const struct command command_serve;
const struct command command_serve = {
	.name = "serve",
	.summary = "receive, store and diagnose what the servers of a fleet record",
	.usage = "--data DIR|--replay DATA [OPTION...]",
	.description =
		"Runs the collector. Servers send what they record ('limpet record --send "
		"URL') as it is recorded, and the collector appends it to archives in DIR, "
		"one per server and day, which are the same as the servers' own. A server "
		"that could not reach the collector for a while sends what is missing from "
		"its own archive.\n"
		"\n"
		"Without further options it listens on this machine only. To be reached from "
		"others it needs a certificate, and every server needs a token ('limpet "
		"serve enroll NAME') or a certificate of its own; operators on other "
		"machines need a token, too ('limpet serve enroll --operator NAME'). "
		"SIGTERM, SIGINT and SIGHUP end it cleanly.\n"
		"\n"
		"The collector judges arriving data as 'limpet diagnose' does, and opens an "
		"incident for each fault: http://127.0.0.1:9700 shows them, 'limpet "
		"incidents' lists them, /metrics is for Prometheus, and docs/api.md "
		"describes the API. Incidents, and what people say about them, are kept in "
		"DIR/incidents.sqlite.\n"
		"\n"
		"With --remote-write it also sends what servers record to a database that "
		"takes Prometheus' remote write, under names like "
		"limpet_disk_read_bytes_total; 'limpet diagnose prometheus+http://HOST' can "
		"read it from there. If the database is down, the collector sends the data "
		"later; see docs/collector.md.\n"
		"\n"
		"With --replay it plays recordings as if they arrived now, for "
		"demonstrations and tests, and keeps nothing. 'limpet backtest' lists the "
		"incidents that would have been opened, without waiting.",
	.options = options,
	.options_size = sizeof(struct serve_options),
	.examples = examples,
	.verbs = verbs,
	.run = run,
};
