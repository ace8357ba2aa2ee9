/* The page of `limpet stack show --html`: one file that loads nothing else. Only its own style and
 * script are allowed, by their hashes. The script draws from numbers in JSON.
 */
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "report/html.h"
#include "report/json.h"
#include "trace/stack/stack_page.inc" /* stack_style, stack_script and their hashes */
#include "trace/stack/stack_report.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Limits, so that a browser opens the page without delay. */
#define CALLS_MAX 1500
#define PARTS_MAX 40000	      /* of all calls */
#define PARTS_OF_CALL_MAX 400 /* of one */

struct page {
	const struct stack_metrics *m;
	FILE *out;
	bool *shown;	     /* [call] */
	struct strmap texts; /* text -> its number */
	json_t *list;	     /* the texts */
	size_t parts;	     /* how many more */
};

/* The number of a text; -1: it is empty. */
static json_t *text_number(struct page *p, const char *text)
{
	uint32_t at = 0;

	if (!*text)
		return json_integer(-1);
	if (!strmap_get(&p->texts, text, &at)) {
		at = (uint32_t)json_array_size(p->list);
		json_array_append_new(p->list, json_text(text));
		if (strmap_put(&p->texts, text, at) < 0)
			return NULL;
	}
	return json_integer(at);
}

static json_t *layers_json(const struct stack_metrics *m)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < layers_n; i++) {
		const struct stack_layer_sum *l = &m->layers[i];

		json_array_append_new(list,
			json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f}", "name",
				layers[i].name, "calls", (json_int_t)l->calls, "errors",
				(json_int_t)l->errors, "bytes", (json_int_t)l->bytes, "inclusive",
				(json_int_t)l->inclusive_ns, "exclusive",
				(json_int_t)l->exclusive_ns, "longest", (json_int_t)l->longest_ns,
				"waiting", (json_int_t)l->waiting_ns, "rate",
				stack_layer_throughput(l)));
	}
	return list;
}

static json_t *servers_json(const struct stack_metrics *m)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < m->n_servers; i++) {
		const struct stack_server *s = &m->servers[i];

		json_array_append_new(list,
			json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f}", "name",
				json_text(stack_server_name(m, i)), "calls", (json_int_t)s->calls,
				"ns", (json_int_t)s->ns, "disk_ns", (json_int_t)s->disk_ns, "busy",
				(json_int_t)s->disk_busy_ns, "longest", (json_int_t)s->longest_ns,
				"accesses", (json_int_t)s->disk_accesses, "disk_bytes",
				(json_int_t)s->disk_bytes, "joules", s->joules));
	}
	return list;
}

static json_t *shares_json(const struct stack_metrics *m, const struct stack_call *call)
{
	json_t *list = json_array();

	for (uint32_t i = call->shares; i < call->shares + call->n_shares; i++) {
		const struct stack_share *s = &m->shares[i];

		json_array_append_new(list,
			json_pack("{s:i, s:I, s:I, s:I, s:i, s:I, s:f, s:f}", "server",
				(int)s->server, "ns", (json_int_t)s->ns, "disk_ns",
				(json_int_t)s->disk_ns, "busy", (json_int_t)s->disk_busy_ns,
				"accesses", (int)s->disk_accesses, "disk_bytes",
				(json_int_t)s->disk_bytes, "watts", stack_share_power(m, s),
				"joules", s->joules));
	}
	return list;
}

/* A part of a waterfall, as an array: see choose() in stack_page.js. */
static json_t *part_json(struct page *p, uint32_t i, const struct span *call, int depth)
{
	const struct spans *spans = p->m->graph->spans;
	const struct span *s = &spans->items[i];
	json_t *function = text_number(p, s->function), *object = text_number(p, s->object);

	return json_pack("[i, I, I, i, i, o, o, I, I, I, i]", depth,
		(json_int_t)(s->start_ns - call->start_ns), (json_int_t)(s->end_ns - s->start_ns),
		(int)spans->layers[i], (int)spans->observers[i], function, object,
		(json_int_t)s->offset, (json_int_t)s->size, (json_int_t)s->result,
		(s->flags & SPAN_OPEN_END) != 0);
}

/* A span and those that it caused. Spans for which there is no room are counted. */
static void parts_add(
	struct page *p, json_t *list, uint32_t i, const struct span *call, int depth, size_t *left)
{
	const struct graph *g = p->m->graph;

	if (!p->parts || json_array_size(list) >= PARTS_OF_CALL_MAX) {
		(*left)++;
		return;
	}
	p->parts--;
	json_array_append_new(list, part_json(p, i, call, depth));
	for (uint32_t e = g->first[i]; depth < 32 && e < g->first[i + 1]; e++)
		parts_add(p, list, g->edges[e].child, call, depth + 1, left);
}

static json_t *split_json(const struct stack_call *call)
{
	json_t *list = json_array();

	/* From bottom to top, like the parts of a bar. */
	for (unsigned i = layers_n; i-- > 0;) {
		if (call->exclusive_ns[i] > 0)
			json_array_append_new(list,
				json_pack("[i, I]", (int)i, (json_int_t)call->exclusive_ns[i]));
	}
	return list;
}

static json_t *call_json(struct page *p, const struct stack_call *call)
{
	const struct stack_metrics *m = p->m;
	const struct span *s = &m->graph->spans->items[call->span];
	json_t *function = text_number(p, s->function), *object = text_number(p, s->object);
	json_t *parts = json_array();
	size_t left = 0;

	parts_add(p, parts, call->span, s, 0, &left);
	return json_pack("{s:i, s:I, s:I, s:I, s:o, s:o, s:I, s:o, s:I, s:I, s:I, s:o, s:o, s:I}",
		"rank", call->rank, "number", (json_int_t)call->number, "start",
		(json_int_t)(s->start_ns - m->first_ns), "ns",
		(json_int_t)(s->end_ns - s->start_ns), "function", function, "object", object,
		"size",
		(json_int_t)(s->size		? s->size
				: s->result > 0 ? s->result
						: 0),
		"layers", split_json(call), "waiting", (json_int_t)call->waiting_ns,
		"communicating", (json_int_t)call->communicating_ns, "late",
		(json_int_t)call->late_ns, "servers", shares_json(m, call), "parts", parts,
		"left_out", (json_int_t)left);
}

static json_t *data_json(struct page *p)
{
	const struct stack_metrics *m = p->m;
	const struct spans *spans = m->graph->spans;
	json_t *calls = json_array(), *hosts = json_array();

	for (size_t i = 0; i < m->n_calls; i++) {
		if (p->shown[i])
			json_array_append_new(calls, call_json(p, &m->calls[i]));
	}
	for (size_t i = 0; i < spans->n_observers; i++)
		json_array_append_new(hosts, json_text(spans->observer_names[i]));
	return json_pack("{s:I, s:o, s:o, s:o, s:o, s:O, s:b, s:o}", "ranks",
		(json_int_t)m->n_ranks, "layers", layers_json(m), "servers", servers_json(m),
		"hosts", hosts, "calls", calls, "texts", p->list, "drive", m->drive != NULL,
		"clocks", stack_clocks_json(spans));
}

/* The slowest calls are shown, all of them if there are not too many. */
static int calls_choose(struct page *p)
{
	_cleanup_free_ uint32_t *order = stack_slowest(p->m);

	p->shown = calloc(p->m->n_calls + 1, sizeof(*p->shown));
	if (!order || !p->shown)
		return -ENOMEM;
	for (size_t i = 0; i < p->m->n_calls && i < CALLS_MAX; i++)
		p->shown[order[i]] = true;
	return 0;
}

static void write_head(FILE *out)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'sha256-" STACK_STYLE_HASH "'; script-src 'sha256-" STACK_SCRIPT_HASH
	      "'; base-uri 'none'; form-action 'none'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n"
	      "<meta name=\"referrer\" content=\"no-referrer\">\n"
	      "<meta name=\"generator\" content=\"limpet " LIMPET_VERSION "\">\n"
	      "<title>limpet: the I/O stack</title>\n<style>",
		out);
	fwrite(stack_style, 1, sizeof(stack_style), out);
	fputs("</style>\n</head>\n<body>\n<header>\n<p class=\"mark\">limpet</p>\n<h1>", out);
}

/* "Call 2:16 took 12.0 s, 11.2 s of it at s3" */
/* Remarks about clocks and missing data. */
static void write_remarks(FILE *out, const struct stack_metrics *m)
{
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	char *rest = NULL;

	if (!f)
		return;
	stack_gaps_print(f, &m->graph->spans->gaps);
	stack_clocks_print(f, m->graph->spans);
	if (fclose(f) != 0)
		return;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		fputs("<p class=\"hint\">", out);
		html_write(out, line);
		fputs("</p>\n", out);
	}
}

static void write_headline(FILE *out, const struct stack_metrics *m)
{
	struct strbuf sb = {0};
	char text[TIME_TEXT_MAX];

	stack_add_headline(&sb, m);
	if (sb.text)
		sb.text[0] = (char)toupper((unsigned char)sb.text[0]);
	html_write(out, sb.text ? sb.text : "");
	strbuf_release(&sb);
	fprintf(out, "</h1>\n<p class=\"hint\">%zu calls of ", m->n_calls);
	html_write(out, layers[m->layer].name);
	fprintf(out, " by %" PRIu32 " %s, from <time>%s</time> on.", m->n_processes,
		m->n_processes == 1 ? "process" : "processes",
		time_format(m->first_ns / 1000, text));
	if (m->n_calls > CALLS_MAX)
		fprintf(out, " The %d slowest are in this page.", CALLS_MAX);
	fputs("</p>\n", out);
	write_remarks(out, m);
	fputs("</header>\n<main>\n", out);
}

static void write_tables(FILE *out, const struct stack_metrics *m)
{
	fputs("<section class=\"card\"><h2>Layers</h2>\n"
	      "<p class=\"hint\">'In it' is time without that of the layers below; 'waiting' is "
	      "the part of it spent between layers.</p>\n<div class=\"scroll\"><table><thead>"
	      "<tr><th>layer</th><th>calls</th><th>bytes</th><th>mean time</th><th>longest</th>"
	      "<th>in it</th><th>waiting</th><th>throughput</th><th>errors</th></tr></thead>"
	      "<tbody id=\"layers\"></tbody></table></div></section>\n",
		out);
	fprintf(out,
		"<section class=\"card\"%s><h2>Servers</h2>\n<p class=\"hint\">What calls cost "
		"each "
		"server.%s</p>\n<div class=\"scroll\"><table><thead><tr><th>server</th>"
		"<th>calls</th><th>mean time</th><th>on disk</th><th>longest</th><th>accesses</th>"
		"<th>bytes</th><th>throughput</th><th>energy</th></tr></thead>"
		"<tbody id=\"servers\"></tbody></table></div></section>\n",
		m->n_servers ? "" : " hidden", m->drive ? "" : " Energy is computed with --drive.");
	fputs("<section class=\"card\"><h2>Slowest calls</h2>\n<div class=\"scroll\"><table><thead>"
	      "<tr><th>call</th><th>took</th><th class=\"left\">what</th>"
	      "<th class=\"left\">time by layer</th><th class=\"left\">slowest server</th></tr>"
	      "</thead><tbody id=\"slowest\"></tbody></table></div></section>\n",
		out);
}

static void write_waterfall(FILE *out)
{
	fputs("<section class=\"card\" id=\"waterfall\"><span class=\"choice\">"
	      "<button type=\"button\" id=\"before\">previous</button> "
	      "<button type=\"button\" id=\"after\">next</button></span>"
	      "<h2 id=\"fall-title\">Call</h2>\n<p class=\"hint\" id=\"fall-text\"></p>\n"
	      "<div class=\"scroll tall\"><table class=\"fall\"><thead><tr><th class=\"left\">what "
	      "it "
	      "became</th><th>begins</th><th>takes</th><th></th></tr></thead>"
	      "<tbody id=\"fall\"></tbody></table></div><p class=\"hint\" id=\"fall-more\"></p>"
	      "</section>\n",
		out);
}

static void write_charts(FILE *out, const struct stack_metrics *m)
{
	const char *hidden = m->n_servers ? "" : " hidden";

	fputs("<section class=\"card\"><label class=\"choice\">of <select "
	      "id=\"rank\"></select></label><h2>Latency seen from a client</h2>\n"
	      "<p class=\"hint\">Each call by layer, next to the time that each server "
	      "took. Click a bar to see what the call became.</p>\n"
	      "<div class=\"scroll\" id=\"client-bars\"></div><ul class=\"legend\" "
	      "id=\"client-legend\"></ul></section>\n",
		out);
	write_waterfall(out);
	fprintf(out,
		"<section class=\"card\"%s><h2>Calls by server</h2>\n"
		"<p class=\"hint\">Darker cells: the server worked longer for that "
		"call.</p>\n"
		"<div class=\"scroll\" id=\"heat\"></div></section>\n"
		"<section class=\"card\"%s><label class=\"choice\">of <select "
		"id=\"server\"></select></label><h2>Latency at a server</h2>\n"
		"<p class=\"hint\">One bar per call, those of all clients side by side.</p>\n"
		"<div class=\"scroll\" id=\"server-bars\"></div><ul class=\"legend\" "
		"id=\"server-legend\"></ul></section>\n"
		"<section class=\"card\"%s><h2>Disk throughput of this server</h2>\n"
		"<div class=\"scroll\" id=\"rate-bars\"></div></section>\n"
		"<section class=\"card\"%s><h2>Disk power of this server</h2>\n"
		"<p class=\"hint\">Computed from the data sheet of ",
		hidden, hidden, hidden, m->n_servers && m->drive ? "" : " hidden");
	html_write(out, m->drive && m->drive->title ? m->drive->title : "a drive");
	fputs(".</p>\n<div class=\"scroll\" id=\"power-bars\"></div></section>\n", out);
}

/* JSON inside a page: no text in it may end the element. */
static int write_data(struct page *p)
{
	_cleanup_(json_decrefp) json_t *o = data_json(p);
	_cleanup_free_ char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;

	if (!text)
		return -ENOMEM;
	fputs("<script type=\"application/json\" id=\"data\">", p->out);
	for (const char *c = text; *c; c++) {
		if (*c == '<')
			fputs("\\u003c", p->out);
		else
			fputc(*c, p->out);
	}
	fputs("</script>\n", p->out);
	return 0;
}

int stack_html_print(FILE *out, const struct stack_metrics *m)
{
	struct page p = {.m = m, .out = out, .parts = PARTS_MAX, .list = json_array()};
	int r = p.list ? calls_choose(&p) : -ENOMEM;

	if (r == 0) {
		write_head(out);
		write_headline(out, m);
		write_tables(out, m);
		write_charts(out, m);
		fputs("</main>\n<footer>Made by limpet " LIMPET_VERSION
		      ". All times are UTC.</footer>\n<div id=\"tip\" role=\"status\"></div>\n"
		      "<noscript><p>The charts need JavaScript; 'limpet stack show' prints the "
		      "same "
		      "as text.</p></noscript>\n",
			out);
		r = write_data(&p);
	}
	if (r == 0) {
		fputs("<script>", out);
		fwrite(stack_script, 1, sizeof(stack_script), out);
		fputs("</script>\n</body>\n</html>\n", out);
	}
	free(p.shown);
	json_decref(p.list);
	strmap_release(&p.texts);
	return r < 0 ? r : ferror(out) ? -EIO : 0;
}
