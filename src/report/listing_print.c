#include "report/listing.h"

#include "base/time.h"
#include "model/process_note.h"
#include "report/flow.h"
#include "report/grid.h"
#include "report/json.h"
#include "report/number.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define BYTES_TEXT_MAX 32

static const char *bytes_format(uint64_t bytes, char buf[BYTES_TEXT_MAX])
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
	double value = (double)bytes;
	unsigned unit = 0;

	for (; value >= 1000 && unit < 4; unit++)
		value /= 1000;
	snprintf(buf, BYTES_TEXT_MAX, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
	return buf;
}

static void print_gaps(FILE *out, const struct listing_observer *o)
{
	char from[TIME_TEXT_MAX], to[TIME_TEXT_MAX], span[TIME_TEXT_MAX];
	uint64_t n = o->n_gaps < LISTING_GAPS_MAX ? o->n_gaps : LISTING_GAPS_MAX;

	for (uint64_t i = 0; i < n; i++)
		fprintf(out, "  gap: nothing between %s and %s (%s)\n",
			time_format(o->gaps[i].from_us, from), time_format(o->gaps[i].to_us, to),
			span_format(span_between(o->gaps[i].from_us, o->gaps[i].to_us), span));
	if (o->n_gaps > n)
		fprintf(out, "  and %" PRIu64 " more gap%s\n", o->n_gaps - n,
			o->n_gaps - n == 1 ? "" : "s");
	if (o->n_back)
		fprintf(out,
			"  its clock stepped back %" PRIu64 " time%s: the later samples count\n",
			o->n_back, o->n_back == 1 ? "" : "s");
	for (size_t i = 0; i < o->n_events; i++) {
		/* Notes about busy processes are used only if they matter. */
		if (!strncmp(o->events[i].text, PROCESS_NOTE_BEGIN, strlen(PROCESS_NOTE_BEGIN)))
			continue;
		fprintf(out, "  %s: ", time_format(o->events[i].wall_us, from));
		flow_print_safe(out, o->events[i].text);
		fputc('\n', out);
	}
}

static void print_traced(FILE *out, const struct listing_observer *o)
{
	if (o->traced)
		fprintf(out,
			"  has logs of system calls and descriptors: limpet show --calls, "
			"--descriptors\n");
}

static void print_observer(FILE *out, const struct listing_observer *o)
{
	char first[TIME_TEXT_MAX], last[TIME_TEXT_MAX], span[TIME_TEXT_MAX], step[TIME_TEXT_MAX];

	flow_print_safe(out, o->name);
	fputs(": ", out);
	if (!o->n_samples) {
		fprintf(out, "no samples\n");
		print_traced(out, o);
		return;
	}
	/* To the second: the microseconds of jitter do not matter. */
	fprintf(out, "%" PRIu64 " sample%s from %s to %s (%s)", o->n_samples,
		o->n_samples == 1 ? "" : "s",
		time_format(o->first_us / US_PER_SEC * US_PER_SEC, first),
		time_format(o->last_us / US_PER_SEC * US_PER_SEC, last),
		span_format((span_between(o->first_us, o->last_us) + US_PER_SEC / 2) / US_PER_SEC *
				US_PER_SEC,
			span));
	if (o->interval_us)
		fprintf(out, ", every %s, %s", span_format(o->interval_us, step),
			o->n_gaps ? "with gaps:" : "no gaps");
	fprintf(out, "\n");
	print_traced(out, o);
	print_gaps(out, o);
}

/* Does any component of this kind have a stable name? */
static bool kind_has_stable(const struct listing *l, uint32_t kind)
{
	for (size_t i = 0; i < l->n_components; i++) {
		if (l->components[i].kind == kind && l->components[i].stable[0])
			return true;
	}
	return false;
}

static void kind_heading(struct grid *g, const struct listing *l, uint32_t kind, bool stable)
{
	size_t first = l->kind_first[kind], end = l->kind_first[kind + 1];

	grid_init(g, 2 + stable + end - first);
	grid_add(g, l->kinds[kind]);
	if (stable)
		grid_add(g, "known as");
	grid_add(g, "samples");
	for (size_t i = first; i < end; i++)
		grid_add(g, l->means[l->kind_means[i]]->metric);
}

static bool kind_has(const struct listing *l, uint32_t kind, const char *metric)
{
	for (size_t i = 0; i < l->n_metrics; i++) {
		if (l->metrics[i].kind == kind && !strcmp(l->metrics[i].name, metric))
			return true;
	}
	return false;
}

/* The command that lists them; there are different ones for calls and samples. */
static const char *command_for(const struct listing *l, uint32_t kind, bool stacks)
{
	bool calls = kind_has(l, kind, "fcalls");

	if (stacks)
		return "limpet show --functions --flame FILE";
	if (calls && kind_has(l, kind, "samples"))
		return "limpet show --functions, limpet functions";
	return calls ? "limpet functions" : "limpet show --functions";
}

/* There are thousands of functions and stacks, so they are only counted unless they were
 * selected. */
static bool print_count(FILE *out, const struct listing *l, uint32_t kind)
{
	bool stacks = !strcmp(l->kinds[kind], "stack");
	size_t n = 0;

	if (l->asked || (!stacks && strcmp(l->kinds[kind], "function") != 0))
		return false;
	for (size_t i = 0; i < l->n_components; i++)
		n += l->components[i].kind == kind;
	if (n)
		fprintf(out, "\n%zu %s%s: %s\n", n, l->kinds[kind], n == 1 ? "" : "s",
			command_for(l, kind, stacks));
	return true;
}

static void print_kind(FILE *out, const struct listing *l, uint32_t kind, bool colour)
{
	bool stable = kind_has_stable(l, kind);
	struct grid g;

	if (print_count(out, l, kind))
		return;
	kind_heading(&g, l, kind, stable);
	for (size_t i = 0; i < l->n_components; i++) {
		const struct listing_component *c = &l->components[i];

		if (c->kind != kind)
			continue;
		grid_add(&g, c->name);
		if (stable)
			grid_add(&g, c->stable);
		grid_addf(&g, "%" PRIu64, c->n_samples);
		for (size_t m = l->mean_first[i]; m < l->mean_first[i + 1]; m++)
			grid_add_number(&g, l->mean_values[m]);
	}
	if (g.n_cells > g.n_columns) {
		fputc('\n', out);
		grid_print(&g, out, colour);
	}
	grid_release(&g);
}

static void print_metrics(FILE *out, const struct listing *l, uint32_t kind)
{
	bool any = false;

	for (size_t i = 0; i < l->n_metrics; i++) {
		if (l->metrics[i].kind != kind)
			continue;
		if (!any) {
			fputs("metrics of ", out);
			flow_print_safe(out, l->kinds[kind]);
			fputc(':', out);
		}
		fputc(' ', out);
		flow_print_safe(out, l->metrics[i].name);
		any = true;
	}
	if (any)
		fputc('\n', out);
}

void listing_print_text(FILE *out, const struct listing *l, bool colour)
{
	size_t n_files = l->n_files - l->n_remote;
	char bytes[BYTES_TEXT_MAX];

	if (l->n_remote)
		fprintf(out, "%zu remote source%s, ", l->n_remote, l->n_remote == 1 ? "" : "s");
	if (n_files || !l->n_remote)
		fprintf(out, "%zu file%s, %s, ", n_files, n_files == 1 ? "" : "s",
			bytes_format(l->bytes, bytes));
	fprintf(out, "%zu component%s\n", l->n_components, l->n_components == 1 ? "" : "s");
	for (size_t i = 0; i < l->n_observers; i++)
		print_observer(out, &l->observers[i]);
	for (uint32_t k = 0; k < l->n_kinds; k++)
		print_kind(out, l, k, colour);
	if (l->n_metrics)
		fputc('\n', out);
	for (uint32_t k = 0; k < l->n_kinds; k++)
		print_metrics(out, l, k);
}

static void json_observer(FILE *out, const struct listing_observer *o)
{
	char first[TIME_TEXT_MAX], last[TIME_TEXT_MAX], number[NUMBER_TEXT_MAX];
	uint64_t n = o->n_gaps < LISTING_GAPS_MAX ? o->n_gaps : LISTING_GAPS_MAX;

	fputs("{\"name\":", out);
	json_write_string(out, o->name);
	fprintf(out, ",\"samples\":%" PRIu64, o->n_samples);
	if (o->n_samples)
		fprintf(out, ",\"first\":\"%s\",\"last\":\"%s\",\"interval_s\":%s",
			time_format(o->first_us, first), time_format(o->last_us, last),
			number_format((double)o->interval_us / 1e6, number));
	if (o->traced)
		fputs(",\"logs\":[\"syscalls\",\"descriptors\"]", out);
	fprintf(out, ",\"n_gaps\":%" PRIu64 ",\"clock_steps_back\":%" PRIu64 ",\"gaps\":[",
		o->n_gaps, o->n_back);
	for (uint64_t i = 0; i < n; i++)
		fprintf(out, "%s{\"after\":\"%s\",\"before\":\"%s\"}", i ? "," : "",
			time_format(o->gaps[i].from_us, first),
			time_format(o->gaps[i].to_us, last));
	fputs("],\"events\":[", out);
	for (size_t i = 0; i < o->n_events; i++) {
		fprintf(out, "%s{\"time\":\"%s\",\"text\":", i ? "," : "",
			time_format(o->events[i].wall_us, first));
		json_write_string(out, o->events[i].text);
		fputc('}', out);
	}
	fputs("]}", out);
}

static void json_component(FILE *out, const struct listing *l, size_t at)
{
	const struct listing_component *c = &l->components[at];
	char first[TIME_TEXT_MAX], last[TIME_TEXT_MAX], number[NUMBER_TEXT_MAX];
	bool any = false;

	fputs("{\"component\":", out);
	json_write_string(out, c->name);
	fputs(",\"kind\":", out);
	json_write_string(out, l->kinds[c->kind]);
	fputs(",\"labels\":", out);
	json_write_labels(out, c->labels);
	fprintf(out, ",\"samples\":%" PRIu64, c->n_samples);
	if (c->n_samples)
		fprintf(out, ",\"first\":\"%s\",\"last\":\"%s\"", time_format(c->first_us, first),
			time_format(c->last_us, last));
	fputs(",\"means\":{", out);
	for (size_t i = l->mean_first[at]; i < l->mean_first[at + 1]; i++) {
		size_t m = l->kind_first[c->kind] + i - l->mean_first[at];

		if (!isfinite(l->mean_values[i]))
			continue;
		fputs(any ? "," : "", out);
		json_write_string(out, l->means[l->kind_means[m]]->metric);
		fprintf(out, ":%s", number_format(l->mean_values[i], number));
		any = true;
	}
	fputs("}}", out);
}

void listing_print_json(FILE *out, const struct listing *l)
{
	fprintf(out,
		"{\"limpet\":\"" LIMPET_VERSION "\",\"files\":%zu,\"bytes\":%" PRIu64
		",\"observers\":[",
		l->n_files, l->bytes);
	for (size_t i = 0; i < l->n_observers; i++) {
		fputs(i ? ",\n" : "\n", out);
		json_observer(out, &l->observers[i]);
	}
	fputs("],\"components\":[", out);
	for (size_t i = 0; i < l->n_components; i++) {
		fputs(i ? ",\n" : "\n", out);
		json_component(out, l, i);
	}
	fputs("],\"metrics\":[", out);
	for (size_t i = 0; i < l->n_metrics; i++) {
		fputs(i ? ",{\"kind\":" : "{\"kind\":", out);
		json_write_string(out, l->kinds[l->metrics[i].kind]);
		fputs(",\"name\":", out);
		json_write_string(out, l->metrics[i].name);
		fputc('}', out);
	}
	fputs("]}\n", out);
}
