#include "report/functions.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "report/json.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BAR_WIDTH 24

static double share(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

/* Print a share as a bar. */
static void print_bar(FILE *out, double size, char mark)
{
	int n = (int)lround(fmin(fabs(size), 1) * BAR_WIDTH);

	for (int i = 0; i < BAR_WIDTH; i++)
		fputc(i < n ? mark : ' ', out);
}

/* Names come from files and are not trusted. */
static void print_name(FILE *out, const char *name)
{
	for (; *name; name++)
		fputc((unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name, out);
}

static void print_span(FILE *out, const struct functions_server *s)
{
	char from[TIME_TEXT_MAX], to[TIME_TEXT_MAX];

	if (s->last_us)
		fprintf(out, " from %s to %s", time_format(s->first_us, from),
			time_format(s->last_us, to));
	fputc('\n', out);
}

/* Bars are relative to the longest one, so that small shares are visible. */
void functions_print_text(FILE *out, const struct functions_view *v, size_t top)
{
	for (size_t i = 0; i < v->n; i++) {
		const struct functions_server *s = &v->servers[i];
		double most = s->n_rows ? share(s->rows[0].n, s->total) : 1;

		if (i)
			fputc('\n', out);
		print_name(out, s->name);
		fprintf(out, ": %" PRIu64 " sample%s in %zu function%s", s->total,
			s->total == 1 ? "" : "s", s->n_rows, s->n_rows == 1 ? "" : "s");
		print_span(out, s);
		for (size_t k = 0; k < s->n_rows && k < top; k++) {
			fprintf(out, "%6.1f%%  ", 100 * share(s->rows[k].n, s->total));
			print_bar(out, share(s->rows[k].n, s->total) / most, '#');
			fputs("  ", out);
			print_name(out, s->rows[k].name);
			fputc('\n', out);
		}
	}
}

/* "program":...,"image":...,"function":... */
static void json_name(FILE *out, const char *name)
{
	static const char *const keys[] = {"program", "image", "function"};
	const char *image = strchr(name, ':');
	const char *function = image ? strchr(image + 1, ':') : NULL;
	const char *ends[] = {image, function, NULL}, *at = name;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		_cleanup_free_ char *part = function
			? strndup(at, ends[i] ? (size_t)(ends[i] - at) : strlen(at))
			: strdup(i == 0 ? "" : name);

		fprintf(out, "%s\"%s\":", i ? "," : "", keys[i]);
		json_write_string(out, part ? part : "");
		at = function && ends[i] ? ends[i] + 1 : at;
	}
}

void functions_print_json(FILE *out, const struct functions_view *v, size_t top)
{
	fputs("{\"servers\":[", out);
	for (size_t i = 0; i < v->n; i++) {
		const struct functions_server *s = &v->servers[i];

		fprintf(out, "%s\n{\"observer\":", i ? "," : "");
		json_write_string(out, s->name);
		fprintf(out, ",\"samples\":%" PRIu64 ",\"functions\":[", s->total);
		for (size_t k = 0; k < s->n_rows && k < top; k++) {
			fprintf(out, "%s\n{", k ? "," : "");
			json_name(out, s->rows[k].name);
			fprintf(out, ",\"samples\":%" PRIu64 ",\"share\":%.6f}", s->rows[k].n,
				share(s->rows[k].n, s->total));
		}
		fputs("]}", out);
	}
	fputs("]}\n", out);
}

/* A function in both lists. */
struct change {
	const char *name;
	double a, b; /* shares */
};

static double change_size(const struct change *c)
{
	return fabs(c->b - c->a);
}

static int largest_first(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (change_size(x) != change_size(y))
		return change_size(x) < change_size(y) ? 1 : -1;
	return strcmp(x->name, y->name);
}

static double share_of(const struct functions_server *s, const char *name)
{
	uint32_t at;

	return s && strmap_get(&s->index, name, &at) ? share(s->rows[at].n, s->total) : 0;
}

/* All functions of either list, the largest difference first. NULL: out of memory. */
static struct change *changes_make(const struct functions_pair *pair, size_t *ret_n)
{
	size_t n_a = pair->a ? pair->a->n_rows : 0, n_b = pair->b ? pair->b->n_rows : 0, n = 0;
	struct change *c = calloc(n_a + n_b + 1, sizeof(*c));

	for (size_t i = 0; c && i < n_a; i++) {
		const char *name = pair->a->rows[i].name;

		c[n++] = (struct change){name, share_of(pair->a, name), share_of(pair->b, name)};
	}
	for (size_t i = 0; c && i < n_b; i++) {
		const char *name = pair->b->rows[i].name;
		uint32_t at;

		if (!pair->a || !strmap_get(&pair->a->index, name, &at))
			c[n++] = (struct change){name, 0, share_of(pair->b, name)};
	}
	if (c && n)
		qsort(c, n, sizeof(*c), largest_first);
	*ret_n = n;
	return c;
}

int functions_diff_text(FILE *out, const struct functions_pair *pair, size_t top)
{
	size_t n;
	_cleanup_free_ struct change *changes = changes_make(pair, &n);
	double most;

	if (!changes)
		return -ENOMEM;
	most = n && change_size(&changes[0]) > 0 ? change_size(&changes[0]) : 1;
	print_name(out, pair->from);
	fprintf(out, " (%" PRIu64 " samples) -> ", pair->a ? pair->a->total : 0);
	print_name(out, pair->to);
	fprintf(out, " (%" PRIu64 " samples)\n", pair->b ? pair->b->total : 0);
	for (size_t i = 0; i < n && i < top && change_size(&changes[i]) > 0; i++) {
		double d = changes[i].b - changes[i].a;

		fprintf(out, "%6.1f%% -> %5.1f%%  %+6.1f  ", 100 * changes[i].a, 100 * changes[i].b,
			100 * d);
		print_bar(out, d / most, d > 0 ? '+' : '-');
		fputs("  ", out);
		print_name(out, changes[i].name);
		fputc('\n', out);
	}
	return 0;
}

int functions_diff_json(FILE *out, const struct functions_pair *pair, size_t top)
{
	size_t n;
	_cleanup_free_ struct change *changes = changes_make(pair, &n);

	if (!changes)
		return -ENOMEM;
	fputs("{\"from\":", out);
	json_write_string(out, pair->from);
	fputs(",\"to\":", out);
	json_write_string(out, pair->to);
	fprintf(out, ",\"samples_from\":%" PRIu64 ",\"samples_to\":%" PRIu64 ",\"functions\":[",
		pair->a ? pair->a->total : 0, pair->b ? pair->b->total : 0);
	for (size_t i = 0; i < n && i < top; i++) {
		fprintf(out, "%s\n{", i ? "," : "");
		json_name(out, changes[i].name);
		fprintf(out, ",\"share_from\":%.6f,\"share_to\":%.6f,\"difference\":%.6f}",
			changes[i].a, changes[i].b, changes[i].b - changes[i].a);
	}
	fputs("]}\n", out);
	return 0;
}
