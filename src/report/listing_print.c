#include "report/listing.h"

#include "base/time.h"
#include "report/grid.h"
#include "report/json.h"
#include "report/values.h"
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
			span_format(o->gaps[i].to_us - o->gaps[i].from_us, span));
	if (o->n_gaps > n)
		fprintf(out, "  and %" PRIu64 " more gaps\n", o->n_gaps - n);
	if (o->n_back)
		fprintf(out,
			"  its clock stepped back %" PRIu64 " times: the later samples count\n",
			o->n_back);
	for (size_t i = 0; i < o->n_events; i++)
		fprintf(out, "  %s: %s\n", time_format(o->events[i].wall_us, from),
			o->events[i].text);
}

static void print_observer(FILE *out, const struct listing_observer *o)
{
	char first[TIME_TEXT_MAX], last[TIME_TEXT_MAX], span[TIME_TEXT_MAX], step[TIME_TEXT_MAX];

	fprintf(out, "%s: ", o->name);
	if (!o->n_samples) {
		fprintf(out, "no samples\n");
		return;
	}
	/* To the second: instants are jittered by microseconds that nobody wants to read. */
	fprintf(out, "%" PRIu64 " samples from %s to %s (%s)", o->n_samples,
		time_format(o->first_us / US_PER_SEC * US_PER_SEC, first),
		time_format(o->last_us / US_PER_SEC * US_PER_SEC, last),
		span_format((o->last_us - o->first_us + US_PER_SEC / 2) / US_PER_SEC * US_PER_SEC,
			span));
	if (o->interval_us)
		fprintf(out, ", every %s, %s", span_format(o->interval_us, step),
			o->n_gaps ? "with gaps:" : "no gaps");
	fprintf(out, "\n");
	print_gaps(out, o);
}

/* Where a component is in a table, or -1. */
static int64_t table_row(const struct lp_table *t, const char *component)
{
	for (uint32_t i = 0; i < t->n_components; i++) {
		if (!strcmp(t->components[i], component))
			return i;
	}
	return -1;
}

static double mean_of(const struct lp_table *t, const char *component)
{
	int64_t row = table_row(t, component);

	return row < 0 || !t->n_slots ? NAN : t->values[(size_t)row * t->n_slots];
}

/* Does any component of this kind have a mean in this table? */
static bool mean_for_kind(const struct lp_table *t, const char *kind)
{
	for (uint32_t i = 0; i < t->n_components; i++) {
		const char *slash = strrchr(t->components[i], '/');
		size_t len = strlen(kind);

		for (slash = strchr(t->components[i], '/'); slash; slash = strchr(slash + 1, '/')) {
			if (!strncmp(slash + 1, kind, len) && slash[1 + len] == ':')
				return true;
		}
	}
	return false;
}

static void print_kind(FILE *out, const struct listing *l, const char *kind, bool colour)
{
	const struct lp_table *means[32];
	uint32_t n = 0;
	struct grid g;

	for (uint32_t i = 0; i < l->n_means && n < 32; i++) {
		if (mean_for_kind(l->means[i], kind))
			means[n++] = l->means[i];
	}
	grid_init(&g, 3 + n);
	grid_add(&g, kind);
	grid_add(&g, "known as");
	grid_add(&g, "samples");
	for (uint32_t i = 0; i < n; i++)
		grid_addf(&g, "%s", means[i]->metric);
	for (size_t i = 0; i < l->n_components; i++) {
		const struct listing_component *c = &l->components[i];

		if (strcmp(c->kind, kind))
			continue;
		grid_add(&g, c->name);
		grid_add(&g, c->stable);
		grid_addf(&g, "%" PRIu64, c->n_samples);
		for (uint32_t k = 0; k < n; k++)
			grid_add_number(&g, mean_of(means[k], c->name));
	}
	fputc('\n', out);
	grid_print(&g, out, colour);
	grid_release(&g);
}

/* Is component `i` the first of its kind? */
static bool kind_begins(const struct listing *l, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (!strcmp(l->components[k].kind, l->components[i].kind))
			return false;
	}
	return true;
}

static void print_metrics(FILE *out, const struct listing *l)
{
	const char *kind = "";
	size_t len = 0;

	for (size_t i = 0; i < l->n_metrics; i++) {
		const char *name = strchr(l->metrics[i], ' ') + 1;

		if (strncmp(kind, l->metrics[i], len + 1) || !len) {
			kind = l->metrics[i];
			len = (size_t)(name - kind - 1);
			fprintf(out, "\nmetrics of %.*s:", (int)len, kind);
		}
		fprintf(out, " %s", name);
	}
	fputc('\n', out);
}

void listing_print_text(FILE *out, const struct listing *l, bool colour)
{
	char bytes[BYTES_TEXT_MAX];

	fprintf(out, "%zu file%s, %s, %zu components\n", l->n_files, l->n_files == 1 ? "" : "s",
		bytes_format(l->bytes, bytes), l->n_components);
	for (size_t i = 0; i < l->n_observers; i++)
		print_observer(out, &l->observers[i]);
	for (size_t i = 0; i < l->n_components; i++) {
		if (kind_begins(l, i))
			print_kind(out, l, l->components[i].kind, colour);
	}
	print_metrics(out, l);
}

static void json_observer(FILE *out, const struct listing_observer *o)
{
	char first[TIME_TEXT_MAX], last[TIME_TEXT_MAX], number[32];
	uint64_t n = o->n_gaps < LISTING_GAPS_MAX ? o->n_gaps : LISTING_GAPS_MAX;

	fputs("{\"name\":", out);
	json_write_string(out, o->name);
	fprintf(out, ",\"samples\":%" PRIu64, o->n_samples);
	if (o->n_samples)
		fprintf(out, ",\"first\":\"%s\",\"last\":\"%s\",\"interval_s\":%s",
			time_format(o->first_us, first), time_format(o->last_us, last),
			values_format((double)o->interval_us / 1e6, number));
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

/* "key=value" lines as an object. */
static void json_labels(FILE *out, const char *labels)
{
	char line[512];
	bool first = true;

	fputc('{', out);
	while (*labels) {
		size_t len = strcspn(labels, "\n");
		char *equals;

		snprintf(line, sizeof(line), "%.*s", (int)len, labels);
		labels += len + (labels[len] == '\n');
		equals = strchr(line, '=');
		if (!equals)
			continue;
		*equals = '\0';
		fputs(first ? "" : ",", out);
		json_write_string(out, line);
		fputc(':', out);
		json_write_string(out, equals + 1);
		first = false;
	}
	fputc('}', out);
}

static void json_component(FILE *out, const struct listing *l, const struct listing_component *c)
{
	char first[TIME_TEXT_MAX], last[TIME_TEXT_MAX], number[32];
	bool any = false;

	fputs("{\"component\":", out);
	json_write_string(out, c->name);
	fputs(",\"kind\":", out);
	json_write_string(out, c->kind);
	fputs(",\"labels\":", out);
	json_labels(out, c->labels);
	fprintf(out, ",\"samples\":%" PRIu64, c->n_samples);
	if (c->n_samples)
		fprintf(out, ",\"first\":\"%s\",\"last\":\"%s\"", time_format(c->first_us, first),
			time_format(c->last_us, last));
	fputs(",\"means\":{", out);
	for (uint32_t i = 0; i < l->n_means; i++) {
		double mean = mean_of(l->means[i], c->name);

		if (!isfinite(mean))
			continue;
		fputs(any ? "," : "", out);
		json_write_string(out, l->means[i]->metric);
		fprintf(out, ":%s", values_format(mean, number));
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
		json_component(out, l, &l->components[i]);
	}
	fputs("],\"metrics\":[", out);
	for (size_t i = 0; i < l->n_metrics; i++) {
		const char *name = strchr(l->metrics[i], ' ') + 1;

		fprintf(out, "%s{\"kind\":\"%.*s\",\"name\":", i ? "," : "",
			(int)(name - l->metrics[i] - 1), l->metrics[i]);
		json_write_string(out, name);
		fputc('}', out);
	}
	fputs("]}\n", out);
}
