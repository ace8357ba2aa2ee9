/* Judges one experiment. */
#include "explain/score.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* The facts about a unit. */
struct unit {
	char *name;
	bool faulty;
	bool indicted; /* as a suspect at any time */
	bool right;    /* as a suspect during one of its faults */
	bool warned;   /* with a warning, at any time */
	bool warned_right;
	bool absent; /* listed as absent, although that was not its fault */
};

struct units {
	struct unit *items;
	size_t n, cap;
	struct strmap index;
};

static void units_release(struct units *u)
{
	for (size_t i = 0; i < u->n; i++)
		free(u->items[i].name);
	free(u->items);
	strmap_release(&u->index);
}

/* The length of the part of a component's name that names the unit. */
static size_t unit_len(const char *component, enum score_by by)
{
	return by == SCORE_BY_OBSERVER ? strcspn(component, "/") : strlen(component);
}

/* The unit with this name, created if it is new; NULL: out of memory. */
static struct unit *units_get(struct units *u, const char *component, enum score_by by)
{
	_cleanup_free_ char *name = strndup(component, unit_len(component, by));
	uint32_t i;

	if (!name)
		return NULL;
	if (strmap_get(&u->index, name, &i))
		return &u->items[i];
	if (u->n >= UINT32_MAX ||
		array_reserve(&u->items, &u->cap, u->n + 1, sizeof(*u->items)) < 0 ||
		strmap_put(&u->index, name, (uint32_t)u->n) < 0)
		return NULL;
	u->items[u->n] = (struct unit){.name = TAKE_PTR(name)};
	return &u->items[u->n++];
}

/* Does `component` of a fault (a full name, a glob or an observer) match a component? */
static bool fault_means(const struct score_fault *f, const char *component)
{
	size_t observer = unit_len(component, SCORE_BY_OBSERVER);

	return !strcmp(f->component, component) || !fnmatch(f->component, component, 0) ||
		(strlen(f->component) == observer && !strncmp(f->component, component, observer));
}

/* The same for a unit. */
static bool fault_hits(const struct score_fault *f, const char *unit, enum score_by by)
{
	_cleanup_free_ char *observer = NULL;

	if (by == SCORE_BY_COMPONENT)
		return fault_means(f, unit);
	observer = strndup(f->component, unit_len(f->component, by));
	return observer && (!strcmp(observer, unit) || !fnmatch(observer, unit, 0));
}

static bool fault_lasts(const struct score_fault *f, const struct score_suspect *s)
{
	return s->first_us <= f->end_us && s->last_us >= f->start_us;
}

/* Is the cause one of the right ones, "disk-hog|disk-busy"? */
static bool cause_is_right(const struct score_fault *f, const char *cause)
{
	size_t len = strlen(cause);
	const char *p = f->diagnosis;

	if (!*p)
		return true;
	for (;; p++) {
		size_t n = strcspn(p, "|");

		if (n == len && !strncmp(p, cause, n))
			return true;
		p += n;
		if (!*p)
			return false;
	}
}

struct judge {
	const struct score_verdict *v;
	enum score_by by;
	const struct score_fault **faults; /* of this experiment */
	size_t n_faults;
	struct units units;
};

static void judge_release(struct judge *j)
{
	free(j->faults);
	units_release(&j->units);
}

static bool same_verdict(const struct score_fault *f, const char *path)
{
	const char *base = path_basename(path), *dot = strrchr(base, '.');
	_cleanup_free_ char *stem = strndup(base, dot ? (size_t)(dot - base) : strlen(base));

	return !strcmp(f->verdict, path) || !fnmatch(f->verdict, path, 0) ||
		!fnmatch(f->verdict, base, 0) || (stem && !fnmatch(f->verdict, stem, 0));
}

/* The faults of this experiment. -ENOENT: there is no row about it. */
static int judge_begin(struct judge *j, const struct score_truth *truth, const char *path)
{
	bool known = false;

	j->faults = calloc(truth->n + 1, sizeof(const struct score_fault *));
	if (!j->faults)
		return -ENOMEM;
	for (size_t i = 0; i < truth->n; i++) {
		if (!same_verdict(&truth->faults[i], path))
			continue;
		known = true;
		if (*truth->faults[i].component)
			j->faults[j->n_faults++] = &truth->faults[i];
	}
	return known ? 0 : -ENOENT;
}

static int find_units(struct judge *j)
{
	for (size_t i = 0; i < j->v->n_components; i++) {
		if (!units_get(&j->units, j->v->components[i], j->by))
			return -ENOMEM;
	}
	for (size_t i = 0; i < j->v->suspects.n; i++) {
		struct unit *u = units_get(&j->units, j->v->suspects.items[i].component, j->by);

		if (!u)
			return -ENOMEM;
		u->indicted = true;
	}
	return 0;
}

/* Does a suspect match a fault, by component and time? */
static bool speaks_of(
	const struct judge *j, const struct score_suspect *s, const struct score_fault *f)
{
	_cleanup_free_ char *unit = strndup(s->component, unit_len(s->component, j->by));

	return unit && fault_hits(f, unit, j->by) && fault_lasts(f, s);
}

/* Does a suspect match any fault? `named`: any fault that names its cause. */
static bool speaks_of_any(const struct judge *j, const struct score_suspect *s, bool named)
{
	for (size_t i = 0; i < j->n_faults; i++) {
		const struct score_fault *f = j->faults[i];

		if (speaks_of(j, s, f) &&
			(!named || (*f->diagnosis && cause_is_right(f, s->cause))))
			return true;
	}
	return false;
}

/* Warnings and absent components are counted separately. Absence is an indictment only if that was
 * the fault. */
static int find_others(struct judge *j)
{
	const struct score_verdict *v = j->v;

	for (size_t i = 0; i < v->warnings.n; i++) {
		const struct score_suspect *s = &v->warnings.items[i];
		struct unit *u = units_get(&j->units, s->component, j->by);

		if (!u)
			return -ENOMEM;
		u->warned = true;
		u->warned_right |= speaks_of_any(j, s, false);
	}
	for (size_t i = 0; i < v->absent.n; i++) {
		const struct score_suspect *s = &v->absent.items[i];
		struct unit *u = units_get(&j->units, s->component, j->by);

		if (!u)
			return -ENOMEM;
		if (speaks_of_any(j, s, true))
			u->indicted = true;
		else
			u->absent = true;
	}
	return 0;
}

/* Mark the units of a fault. If it matches no known unit, add one that cannot be indicted. */
static int mark_faulty(struct judge *j, const struct score_fault *f)
{
	bool any = false;
	struct unit *u;

	for (size_t i = 0; i < j->units.n; i++) {
		if (!fault_hits(f, j->units.items[i].name, j->by))
			continue;
		j->units.items[i].faulty = true;
		any = true;
	}
	if (any)
		return 0;
	u = units_get(&j->units, f->component, j->by);
	if (!u)
		return -ENOMEM;
	u->faulty = true;
	return 0;
}

/* The suspect number i, counting suspects first and absent components after them. */
static const struct score_suspect *indictment(const struct judge *j, size_t i)
{
	const struct score_verdict *v = j->v;

	return i < v->suspects.n ? &v->suspects.items[i] : &v->absent.items[i - v->suspects.n];
}

/* Check all suspects for a fault: is the cause right, and when was the fault first found? */
static int judge_fault(struct judge *j, const struct score_fault *f, struct score_case *c)
{
	const struct score_suspect *best = NULL; /* the highest-ranked one decides the cause */
	int64_t first_us = INT64_MAX;

	for (size_t i = 0; i < j->v->suspects.n + j->v->absent.n; i++) {
		const struct score_suspect *s = indictment(j, i);
		struct unit *u;

		if (!speaks_of(j, s, f) ||
			(i >= j->v->suspects.n && !(*f->diagnosis && cause_is_right(f, s->cause))))
			continue;
		u = units_get(&j->units, s->component, j->by);
		if (!u)
			return -ENOMEM;
		u->right = true;
		best = best ? best : s;
		if (s->indicted_us != INT64_MIN && s->indicted_us < first_us)
			first_us = s->indicted_us;
	}
	if (!best || !cause_is_right(f, best->cause))
		c->dtp = false;
	if (best && !cause_is_right(f, best->cause))
		c->dfp = true;
	if (best && first_us != INT64_MAX && f->start_us != INT64_MIN &&
		c->n_delays < SCORE_DELAYS_MAX)
		c->delays_s[c->n_delays++] = ((double)first_us - (double)f->start_us) / 1e6;
	return 0;
}

static void count_units(const struct judge *j, struct score_case *c)
{
	for (size_t i = 0; i < j->units.n; i++) {
		const struct unit *u = &j->units.items[i];

		if (u->faulty && u->right)
			c->units.tp++;
		else if (u->faulty)
			c->units.fn++;
		else if (!u->indicted)
			c->units.tn++;
		/* Suspecting a faulty unit while it is healthy is as wrong as suspecting another
		 * unit. */
		if (u->indicted && !u->right)
			c->units.fp++;
		c->units.warned += u->warned_right && !u->right;
		c->units.false_warned += u->warned && !u->warned_right && !u->indicted;
		c->units.absent += u->absent && !u->indicted;
	}
}

static bool label_has(const struct judge *j, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (!strcmp(j->faults[k]->cause, j->faults[i]->cause))
			return true;
	}
	return false;
}

static char *label_make(const struct judge *j)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	for (size_t i = 0; i < j->n_faults; i++) {
		if (label_has(j, i))
			continue;
		strbuf_puts(&sb, sb.len ? "+" : "");
		strbuf_puts(&sb, *j->faults[i]->cause ? j->faults[i]->cause : "fault");
	}
	strbuf_puts(&sb, j->n_faults ? "" : "none");
	return strbuf_take(&sb);
}

static int judge_all(struct judge *j, struct score_case *c)
{
	int r = find_units(j);

	if (r == 0)
		r = find_others(j);
	for (size_t i = 0; i < j->n_faults && r == 0; i++)
		r = mark_faulty(j, j->faults[i]);
	c->faulty = j->n_faults > 0;
	c->dtp = c->faulty;
	for (size_t i = 0; i < j->n_faults && r == 0; i++)
		r = judge_fault(j, j->faults[i], c);
	if (r < 0)
		return r;
	count_units(j, c);
	c->itp = c->faulty && c->units.fn == 0;
	c->dtp = c->dtp && c->itp;
	c->ifp = c->units.fp > 0;
	c->dfp = c->dfp || c->ifp;
	c->label = label_make(j);
	return c->label ? 0 : -ENOMEM;
}

int score_judge(const struct score_truth *truth, const struct score_verdict *v, const char *path,
	enum score_by by, struct score_case *ret, struct lp_err *err)
{
	_cleanup_(judge_release) struct judge j = {.v = v, .by = by};
	struct score_case c = {0};
	int r = judge_begin(&j, truth, path);

	if (r == -ENOENT)
		return lp_err_set(err, r,
			"%s: the truth has no row for it (a run without a fault has one with an "
			"empty component)",
			path);
	if (r == 0)
		r = judge_all(&j, &c);
	if (r < 0) {
		score_case_release(&c);
		return lp_err_sys(err, r, "cannot judge %s", path);
	}
	*ret = c;
	return 0;
}

void score_case_release(struct score_case *c)
{
	free(c->label);
	*c = (struct score_case){0};
}
