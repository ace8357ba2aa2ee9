/* What can be planted, and where it is. */
#include "base/array.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "intrepid.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct event_def event_defs[N_EVENT_KINDS] = {
	[CONTROLLER_FAILED] = {"controller-failed", "lost-path", 22.1, 1.0,
		"the disks behind a controller vanish from its servers (PART ddn19a)"},
	[SERVER_DOWN] = {"server-down", "lost-path", 17.0, 0.48,
		"no data from a server (PART fs16)"},
	[SERVER_BAD_STATE] = {"server-bad-state", "lost-path", 3.2, 0.65,
		"a server's disks are there but not used (PART fs49+fs50)"},
	[LOST_COHERENCY] = {"lost-coherency", "lost-path", 8.4, 7.6,
		"LUNs that a controller does not own are not used through it (PART ddn19a)"},
	[MISSING_ON_SERVERS] = {"missing-on-servers", "lost-path", 9.0, 3.0,
		"some LUNs vanish from some servers of a controller (PART ddn16b)"},
	[DRAWER_ERRORS] = {"drawer-errors", "disk-busy", 12.0, 1.5,
		"requests to many LUNs of an array are held up every few seconds (PART ddn12)"},
	[SLOW_LUN] = {"slow-lun", "disk-busy", 38.0, 18.0, "a LUN is slow (PART 15.37)"},
	[SLOW_LUN_LOAD] = {"slow-lun-load", "disk-hog|disk-busy|imbalanced", 26.0, 26.0,
		"a LUN has a workload of its own and is slow (PART 19.12)"},
	[SLOW_LUN_IDLE] = {"slow-lun-idle", "disk-busy", 8.0, 8.0,
		"the second path to a LUN is slow though hardly used (PART 21.34)"},
};

bool event_active(const struct intrepid *sys, const struct event *e, int64_t step)
{
	int64_t at = step * sys->step_us;

	return at >= e->start_us && at < e->start_us + e->duration_us;
}

static int bad_part(const struct event *e, struct lp_err *err)
{
	return lp_err_set(err, -EINVAL, "'%s' is no part for %s: %s", e->part,
		event_defs[e->kind].name, event_defs[e->kind].help);
}

/* The number behind `prefix`, and where it ends. */
static bool scan_number(const char **p, const char *prefix, unsigned *ret)
{
	char *end;
	unsigned long n;

	if (strncmp(*p, prefix, strlen(prefix)) != 0)
		return false;
	*p += strlen(prefix);
	n = strtoul(*p, &end, 10);
	if (!isdigit((unsigned char)**p) || n > 100000)
		return false;
	*ret = (unsigned)n;
	*p = end;
	return true;
}

static int take_array(
	const struct intrepid *sys, struct event *e, unsigned number, struct lp_err *err)
{
	if (number < FIRST_ARRAY || number >= FIRST_ARRAY + sys->n_arrays)
		return lp_err_set(err, -EINVAL, "%s: arrays are ddn%d to ddn%u", e->part,
			FIRST_ARRAY, FIRST_ARRAY + sys->n_arrays - 1);
	e->array = number - FIRST_ARRAY;
	return 0;
}

/* "fs49+fs50", all of one array. */
static int take_servers(const struct intrepid *sys, struct event *e, struct lp_err *err)
{
	const char *p = e->part;
	unsigned number;
	int r = 0;

	for (;;) {
		if (!scan_number(&p, "fs", &number) || number < 1 ||
			number > sys->n_arrays * SERVERS)
			return bad_part(e, err);
		if (e->servers && e->array != (number - 1) / SERVERS)
			return bad_part(e, err);
		r = take_array(sys, e, (number - 1) / SERVERS + FIRST_ARRAY, err);
		e->servers |= (uint8_t)(1U << ((number - 1) % SERVERS));
		if (r < 0 || !*p)
			return r;
		if (*p++ != '+')
			return bad_part(e, err);
	}
}

static void choose_luns(struct event *e, struct rng *r, unsigned n)
{
	n = n > LUNS ? LUNS : n;
	for (unsigned chosen = 0; chosen < n;) {
		unsigned l = rng_below(r, LUNS);

		chosen += !e->luns[l];
		e->luns[l] = true;
	}
}

/* Those servers of a controller on which LUNs are missing. */
static void choose_servers(struct event *e, struct rng *r, unsigned n)
{
	uint8_t all = e->servers;

	e->servers = 0;
	for (unsigned chosen = 0; chosen < n && chosen < 4;) {
		uint8_t bit = (uint8_t)(1U << rng_below(r, SERVERS));

		if (!(all & bit) || e->servers & bit)
			continue;
		e->servers |= bit;
		chosen++;
	}
}

static int take_controller(const struct intrepid *sys, struct event *e, struct lp_err *err)
{
	const char *p = e->part;
	unsigned number;
	char c;

	if (!scan_number(&p, "ddn", &number) || (*p != 'a' && *p != 'b') || p[1])
		return bad_part(e, err);
	c = *p;
	for (unsigned s = 0; s < SERVERS; s++)
		e->servers |= (uint8_t)((controller_of(s) == c) << s);
	for (unsigned l = 0; l < LUNS; l++)
		e->luns[l] = e->kind != LOST_COHERENCY ||
			(controller_of(server_of(l, 0)) == c &&
				controller_of(server_of(l, 1)) == c);
	return take_array(sys, e, number, err);
}

static int take_lun(const struct intrepid *sys, struct event *e, struct lp_err *err)
{
	const char *p = e->part;
	unsigned number, lun;

	if (!scan_number(&p, "", &number) || !scan_number(&p, ".", &lun) || *p || lun >= LUNS)
		return bad_part(e, err);
	e->luns[lun] = true;
	return take_array(sys, e, number, err);
}

/* Find out what the part is made of. */
static int take_part(const struct intrepid *sys, struct event *e, unsigned luns, unsigned servers,
	struct lp_err *err)
{
	struct rng r = rng_make(sys->seed, 1000 + sys->n_events);
	const char *p = e->part;
	unsigned number;
	int got = 0;

	switch (e->kind) {
	case CONTROLLER_FAILED:
	case LOST_COHERENCY:
		return take_controller(sys, e, err);
	case SERVER_DOWN:
	case SERVER_BAD_STATE:
		memset(e->luns, true, sizeof(e->luns));
		return take_servers(sys, e, err);
	case MISSING_ON_SERVERS:
		got = take_controller(sys, e, err);
		memset(e->luns, false, sizeof(e->luns));
		choose_luns(e, &r, luns ? luns : 30 + rng_below(&r, 30));
		choose_servers(e, &r, servers ? servers : 2 + rng_below(&r, 2));
		return got;
	case DRAWER_ERRORS:
		if (!scan_number(&p, "ddn", &number) || *p)
			return bad_part(e, err);
		choose_luns(e, &r, luns ? luns : 11 + rng_below(&r, 50));
		return take_array(sys, e, number, err);
	default:
		return take_lun(sys, e, err);
	}
}

static int take_kind(struct event *e, const char *name, size_t len, struct lp_err *err)
{
	for (int k = 0; k < N_EVENT_KINDS; k++) {
		if (strlen(event_defs[k].name) == len && !memcmp(event_defs[k].name, name, len)) {
			e->kind = (enum event_kind)k;
			return 0;
		}
	}
	return lp_err_set(err, -EINVAL, "there is no kind of event '%.*s'", (int)len, name);
}

/* "luns=20,servers=2,factor=3" */
static int take_options(
	struct event *e, char *text, unsigned *luns, unsigned *servers, struct lp_err *err)
{
	char *word, *end;

	while (text && (word = strsep(&text, ","))) {
		const char *p = word;

		end = NULL;
		if (scan_number(&p, "luns=", luns) && !*p)
			continue;
		p = word;
		if (scan_number(&p, "servers=", servers) && !*p)
			continue;
		if (!strncmp(word, "factor=", 7))
			e->factor = strtod(word + 7, &end);
		if (!end || *end || !(e->factor > 0))
			return lp_err_set(err, -EINVAL,
				"'%s': an event's options are luns=, servers= and factor=", word);
	}
	return 0;
}

int event_parse(struct intrepid *sys, const char *text, struct lp_err *err)
{
	_cleanup_free_ char *copy = strdup(text);
	struct event e = {0};
	char *rest = copy, *kind, *start, *duration, *part;
	unsigned luns = 0, servers = 0;
	int r;

	if (!copy)
		return lp_err_sys(err, -ENOMEM, "cannot read an event");
	kind = strsep(&rest, "@");
	start = rest ? strsep(&rest, "+") : NULL;
	duration = rest ? strsep(&rest, ":") : NULL;
	part = rest ? strsep(&rest, ":") : NULL;
	if (!part || strlen(part) >= sizeof(e.part))
		return lp_err_set(
			err, -EINVAL, "'%s' is not KIND@START+DURATION:PART[:KEY=VALUE,...]", text);
	memcpy(e.part, part, strlen(part) + 1);
	r = take_kind(&e, kind, strlen(kind), err);
	if (r == 0)
		r = span_parse(start, &e.start_us, err);
	if (r == 0)
		r = span_parse(duration, &e.duration_us, err);
	if (r == 0)
		r = take_options(&e, rest, &luns, &servers, err);
	if (r == 0)
		r = take_part(sys, &e, luns, servers, err);
	if (r < 0)
		return r;
	if (array_reserve(&sys->events, &sys->cap_events, sys->n_events + 1, sizeof(*sys->events)) <
		0)
		return lp_err_sys(err, -ENOMEM, "cannot read an event");
	sys->events[sys->n_events++] = e;
	return 0;
}

int events_read(struct intrepid *sys, const char *path, struct lp_err *err)
{
	FILE *f = fopen(path, "re");
	char line[512];
	int r = 0;

	if (!f)
		return lp_err_sys(err, -errno, "cannot open %s", path);
	while (r == 0 && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[0] && line[0] != '#')
			r = event_parse(sys, line, err);
	}
	fclose(f);
	return r < 0 ? lp_err_prefix(err, "%s", path) : 0;
}
