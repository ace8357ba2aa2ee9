/* Writes snapshots as JSON of the API. */
#include "serve/snapshot.h"

#include "base/time.h"
#include "report/json.h"
#include "report/number.h"
#include "serve/ingest.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void write_time(FILE *out, int64_t us)
{
	char text[TIME_TEXT_MAX];

	if (us > INT64_MIN)
		fprintf(out, "\"%s\"", time_format(us, text));
	else
		fputs("null", out);
}

static void write_number(FILE *out, double value)
{
	char text[NUMBER_TEXT_MAX];

	/* Thousandths of a ratio or a second are precise enough. */
	value = round(value * 1000) / 1000;
	fputs(isfinite(value) ? number_format(value, text) : "null", out);
}

static bool same_number(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) < 0.005;
}

/* Is the server unchanged? Both lists are in the same order. */
static bool server_same(
	const struct snapshot_server *x, const struct snapshot *before, uint32_t *at)
{
	const struct snapshot_server *y;

	while (*at < before->n_servers &&
		(strcmp(before->servers[*at].group, x->group) < 0 ||
			(!strcmp(before->servers[*at].group, x->group) &&
				strverscmp(before->servers[*at].name, x->name) < 0)))
		(*at)++;
	if (*at >= before->n_servers)
		return false;
	y = &before->servers[*at];
	return !strcmp(x->name, y->name) && !strcmp(x->group, y->group) && x->state == y->state &&
		x->level == y->level && same_number(x->ratio, y->ratio);
}

static void write_server(FILE *out, const struct snapshot *s, const struct snapshot_server *x)
{
	fputs("{\"name\":", out);
	json_write_string(out, x->name);
	fprintf(out, ",\"state\":\"%s\",\"level\":\"%s\",\"ratio\":", observer_state_name(x->state),
		snapshot_level_name(x->level));
	write_number(out, x->ratio);
	fputs(",\"worst\":", out);
	if (x->worst < s->n_components)
		json_write_string(out, s->components[x->worst].id->text);
	else
		fputs("null", out);
	fputc('}', out);
}

uint32_t snapshot_write_changes(FILE *out, const struct snapshot *s, const struct snapshot *before)
{
	uint32_t n = 0, at = 0;

	fputs("{\"watermark\":", out);
	write_time(out, s->watermark_us);
	fputs(",\"servers\":[", out);
	for (uint32_t i = 0; i < s->n_servers; i++) {
		if (server_same(&s->servers[i], before, &at))
			continue;
		fputs(n++ ? "," : "", out);
		write_server(out, s, &s->servers[i]);
	}
	fputs("]}", out);
	return n;
}

void snapshot_write_fleet(FILE *out, const struct snapshot *s)
{
	const char *group = NULL;

	fputs("{\"watermark\":", out);
	write_time(out, s->watermark_us);
	fputs(",\"groups\":[", out);
	for (uint32_t i = 0; i < s->n_servers; i++) {
		const struct snapshot_server *x = &s->servers[i];

		if (!group || strcmp(group, x->group) != 0) {
			fputs(group ? "]},\n{\"name\":" : "\n{\"name\":", out);
			json_write_string(out, x->group);
			fputs(",\"servers\":[\n", out);
			group = x->group;
		} else {
			fputs(",\n", out);
		}
		write_server(out, s, x);
	}
	fputs(group ? "]}]}\n" : "]}\n", out);
}

static bool is_asked(const struct snapshot *s, const struct snapshot_component *c,
	const struct snapshot_query *q)
{
	const char *group = c->group < s->n_groups ? s->groups[c->group] : "";

	return (!q->observer || !strcmp(c->id->observer, q->observer)) &&
		(!q->group || !strcmp(group, q->group)) &&
		(!q->text || strcasestr(c->id->text, q->text));
}

static void write_component(FILE *out, const struct snapshot *s, const struct snapshot_component *c)
{
	bool any = false;

	fputs("{\"name\":", out);
	json_write_string(out, c->id->text);
	fputs(",\"observer\":", out);
	json_write_string(out, c->id->observer);
	fputs(",\"kind\":", out);
	json_write_string(out, c->id->kind);
	fputs(",\"group\":", out);
	if (c->group < s->n_groups)
		json_write_string(out, s->groups[c->group]);
	else
		fputs("null", out);
	fputs(",\"metrics\":[", out);
	for (uint32_t m = 0; m < s->n_metrics; m++) {
		if (!(c->metrics >> m & 1))
			continue;
		fputs(any ? "," : "", out);
		json_write_string(out, s->metrics[m]);
		any = true;
	}
	fputs("],\"ratio\":", out);
	write_number(out, c->ratio);
	fprintf(out, ",\"level\":\"%s\"}", snapshot_level_name(c->level));
}

/* A component with exactly the given name comes first. */
void snapshot_write_components(FILE *out, const struct snapshot *s, const struct snapshot_query *q)
{
	uint32_t n = 0, exact = UINT32_MAX;
	bool more = false;

	fputs("{\"components\":[", out);
	if (q->text && strmap_get(&s->component_index, q->text, &exact) &&
		is_asked(s, &s->components[exact], q)) {
		fputc('\n', out);
		write_component(out, s, &s->components[exact]);
		n++;
	}
	for (uint32_t i = 0; i < s->n_components && !more; i++) {
		const struct snapshot_component *c = &s->components[i];

		if (i == exact || !is_asked(s, c, q))
			continue;
		more = n >= q->limit;
		if (more)
			break;
		fputs(n++ ? ",\n" : "\n", out);
		write_component(out, s, c);
	}
	fprintf(out, "],\"more\":%s}\n", more ? "true" : "false");
}

static int by_name(const void *name, const void *host)
{
	return strcmp(name, ((const struct ingest_host *)host)->name);
}

static void write_received(
	FILE *out, const char *name, const struct ingest_host *hosts, size_t n_hosts)
{
	const struct ingest_host *h =
		n_hosts ? bsearch(name, hosts, n_hosts, sizeof(*hosts), by_name) : NULL;

	if (h)
		fprintf(out, ",\"frames\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"refused\":%" PRIu64,
			h->frames, h->bytes, h->refused);
}

void snapshot_write_hosts(FILE *out, const struct snapshot *s, int64_t now_us,
	const struct ingest_host *hosts, size_t n_hosts)
{
	fputs("{\"hosts\":[", out);
	for (uint32_t i = 0; i < s->n_servers; i++) {
		const struct snapshot_server *x = &s->servers[i];

		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
		json_write_string(out, x->name);
		fprintf(out, ",\"state\":\"%s\",\"last\":", observer_state_name(x->state));
		write_time(out, x->last_us);
		fputs(",\"lag_s\":", out);
		write_number(out,
			x->last_us > INT64_MIN ? (double)(now_us - x->last_us) / 1e6 : (double)NAN);
		fputs(",\"clock_skew_s\":", out);
		write_number(out, x->skew_us > INT64_MIN ? (double)x->skew_us / 1e6 : (double)NAN);
		fprintf(out, ",\"samples\":%" PRIu64, x->n_samples);
		write_received(out, x->name, hosts, n_hosts);
		fputc('}', out);
	}
	fputs("]}\n", out);
}
