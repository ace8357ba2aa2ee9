#include "cli/show_functions.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "report/functions.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TOP_DEFAULT 10

static size_t top_of(const struct show_functions *o)
{
	return o->top ? (size_t)o->top : TOP_DEFAULT;
}

/* Report what is missing, and what exists instead. */
static int say_nothing(const char *kind, bool calls, struct lp_err *err)
{
	bool stacks = !strcmp(kind, "stack");

	if (calls && !stacks)
		return lp_err_set(err, -ENOENT,
			"there are no samples of functions in the data, but calls of them, which "
			"'limpet functions DATA' lists");
	return lp_err_set(err, -ENOENT,
		"there are no samples of %ss in the data ('limpet record --collect profile%s' "
		"takes them)",
		kind, stacks ? " --stacks" : "");
}

static bool is_empty(const struct functions_view *v)
{
	for (size_t i = 0; i < v->n; i++) {
		if (v->servers[i].total)
			return false;
	}
	return true;
}

/* The functions within a time; it is an error if there are none. */
static int read_view(struct lp_dataset *ds, const char *kind, const struct lp_table_options *range,
	struct functions_view *ret, struct lp_err *err)
{
	const struct functions_select select = {.kind = kind,
		.components = range->components,
		.n_components = range->components ? range->n_components : 0,
		.from_us = range->from_us,
		.to_us = range->to_us};
	int r = functions_read(ds, &select, ret, err);

	if ((r == 0 || r == -EBADMSG) && !ret->n) {
		bool calls = ret->calls;

		functions_release(ret);
		return r < 0 ? r : say_nothing(kind, calls, err);
	}
	return r;
}

/* The same for a time that the user chose. */
static int read_range(struct lp_dataset *ds, const char *kind, const struct lp_table_options *range,
	struct functions_view *ret, struct lp_err *err)
{
	int r = read_view(ds, kind, range, ret, err);

	if (r == 0 && (range->from_us || range->to_us) && is_empty(ret)) {
		functions_release(ret);
		return lp_err_set(err, -ENOENT, "no samples of %ss were taken in that time", kind);
	}
	return r;
}

static int print_pair(const struct functions_pair *pair, const struct show_functions *o, bool json,
	struct lp_err *err)
{
	int r = json ? functions_diff_json(stdout, pair, top_of(o))
		     : functions_diff_text(stdout, pair, top_of(o));

	return r < 0 ? lp_err_sys(err, r, "cannot compare functions") : 0;
}

/* Two servers, "oss1,oss3". */
static int show_diff(struct lp_dataset *ds, const struct show_functions *o,
	const struct lp_table_options *range, bool json, struct lp_err *err)
{
	_cleanup_(functions_release) struct functions_view v = {0};
	_cleanup_free_ char *from = strdup(o->diff);
	char *to = from ? strchr(from, ',') : NULL;
	struct functions_pair pair;
	int r;

	if (!to || to == from || !to[1] || strchr(to + 1, ','))
		return lp_err_set(err, -EINVAL, "--diff needs two servers: oss1,oss3");
	*to++ = '\0';
	r = read_range(ds, "function", range, &v, err);
	if (r < 0 && r != -EBADMSG)
		return r;
	pair = (struct functions_pair){functions_find(&v, from), functions_find(&v, to), from, to};
	if (!pair.a || !pair.b)
		return lp_err_set(err, -ENOENT, "--diff: there are no samples of functions of '%s'",
			pair.a ? to : from);
	return print_pair(&pair, o, json, err) < 0 ? -ENOMEM : r;
}

/* Every server before and after a time. */
static int show_split(struct lp_dataset *ds, const struct show_functions *o,
	const struct lp_table_options *range, bool json, struct lp_err *err)
{
	_cleanup_(functions_release) struct functions_view before = {0}, after = {0};
	struct lp_table_options early = *range, late = *range;
	char time[TIME_TEXT_MAX];
	int r, got;

	if (o->split_us <= range->from_us || (range->to_us && o->split_us >= range->to_us))
		return lp_err_set(err, -EINVAL, "--split must be between --since and --until");
	early.to_us = late.from_us = o->split_us;
	r = read_view(ds, "function", &early, &before, err);
	if (r < 0 && r != -EBADMSG)
		return r;
	got = read_view(ds, "function", &late, &after, err);
	if (got < 0 && got != -EBADMSG)
		return got;
	time_format(o->split_us, time);
	if (is_empty(&before) || is_empty(&after))
		return lp_err_set(err, -ENOENT, "--split: no samples of functions were taken %s %s",
			is_empty(&before) ? "before" : "after", time);
	for (size_t i = 0; i < after.n; i++) {
		const char *name = after.servers[i].name;
		char from[512], to[512];
		struct functions_pair pair = {
			functions_find(&before, name), &after.servers[i], from, to};

		snprintf(from, sizeof(from), "%s before %s", name, time);
		snprintf(to, sizeof(to), "after");
		if (i && !json)
			putchar('\n');
		if (print_pair(&pair, o, json, err) < 0)
			return -ENOMEM;
	}
	return r < 0 ? r : got;
}

static int write_flame(struct lp_dataset *ds, const struct show_functions *o,
	const struct lp_table_options *range, struct lp_err *err)
{
	_cleanup_(functions_release) struct functions_view v = {0};
	FILE *f;
	int r = read_range(ds, "stack", range, &v, err), written;

	if (r < 0 && r != -EBADMSG)
		return r;
	f = fopen(o->flame, "we");
	if (!f)
		return lp_err_sys(err, -errno, "cannot write %s", o->flame);
	written = functions_flame(f, &v);
	if (written == 0 && ferror(f))
		written = -EIO;
	if (fclose(f) != 0 && written == 0)
		written = -errno;
	return written < 0 ? lp_err_sys(err, written, "cannot write %s", o->flame) : r;
}

int show_functions(struct lp_dataset *ds, const struct show_functions *o,
	const struct lp_table_options *range, bool json, struct lp_err *err)
{
	_cleanup_(functions_release) struct functions_view v = {0};
	int r;

	if (!!o->diff + !!o->split_us + !!o->flame > 1)
		return lp_err_set(err, -EINVAL, "--diff, --split and --flame exclude one another");
	if (o->diff)
		return show_diff(ds, o, range, json, err);
	if (o->split_us)
		return show_split(ds, o, range, json, err);
	if (o->flame)
		return write_flame(ds, o, range, err);
	r = read_range(ds, "function", range, &v, err);
	if (r < 0 && r != -EBADMSG)
		return r;
	if (json)
		functions_print_json(stdout, &v, top_of(o));
	else
		functions_print_text(stdout, &v, top_of(o));
	return r;
}
