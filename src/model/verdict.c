#include "model/verdict_own.h"

#include "model/traced_call.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void strings_free(char **strings, uint32_t n)
{
	for (uint32_t i = 0; strings && i < n; i++)
		free(strings[i]);
	free(strings);
}

static void suspects_free(struct lp_suspect *suspects, uint32_t n)
{
	for (uint32_t i = 0; suspects && i < n; i++) {
		strings_free(suspects[i].evidence, suspects[i].n_evidence);
		strings_free(suspects[i].context, suspects[i].n_context);
		free(suspects[i].advice);
		traced_calls_free(suspects[i].calls, suspects[i].n_calls);
	}
	free(suspects);
}

static void incidents_free(struct lp_incident *incidents, uint32_t n)
{
	for (uint32_t i = 0; incidents && i < n; i++) {
		free(incidents[i].part);
		free(incidents[i].components);
		free(incidents[i].summary);
		free(incidents[i].advice);
	}
	free(incidents);
}

void series_release(struct lp_series *s)
{
	free(s->marks);
	free(s->ratios);
	free(s->distances);
	free(s->thresholds);
	free(s->first);
	free(s->last);
}

int series_alloc(struct lp_series *s, uint32_t n_members)
{
	size_t n = (size_t)n_members * s->n_windows;

	s->marks = calloc(n, sizeof(*s->marks));
	s->ratios = calloc(n, sizeof(*s->ratios));
	s->distances = calloc(n, sizeof(*s->distances));
	s->thresholds = calloc(n_members, sizeof(*s->thresholds));
	s->first = calloc(s->n_windows, sizeof(*s->first));
	s->last = calloc(s->n_windows, sizeof(*s->last));
	return s->marks && s->ratios && s->distances && s->thresholds && s->first && s->last
		? 0
		: -ENOMEM;
}

void peer_group_release(struct lp_peer_group *g)
{
	free(g->name);
	free(g->members);
	free(g->refused);
}

void lp_peer_groups_free(struct lp_peer_group *groups, uint32_t n)
{
	for (uint32_t i = 0; groups && i < n; i++)
		peer_group_release(&groups[i]);
	free(groups);
}

void lp_verdict_free(struct lp_verdict *v)
{
	if (!v)
		return;
	lp_identities_free(v->components, v->n_components);
	for (uint32_t i = 0; i < v->n_tables; i++) {
		lp_table_free(v->tables[i]);
		if (v->row_of)
			free(v->row_of[i]);
	}
	free(v->tables);
	free(v->row_of);
	lp_peer_groups_free(v->groups, v->n_groups);
	for (uint32_t i = 0; i < v->n_series; i++)
		series_release(&v->series[i]);
	free(v->series);
	free(v->anomalies);
	free(v->findings);
	for (uint32_t i = 0; i < v->n_dimensions; i++)
		free(v->dimensions[i].name);
	free(v->dimensions);
	for (uint32_t i = 0; i < v->n_processes; i++) {
		free(v->processes[i].observer);
		free(v->processes[i].program);
		free(v->processes[i].command);
	}
	free(v->processes);
	suspects_free(v->suspects, v->n_suspects);
	suspects_free(v->warnings, v->n_warnings);
	suspects_free(v->absent, v->n_absent);
	suspects_free(v->asymmetries, v->n_asymmetries);
	incidents_free(v->incidents, v->n_incidents);
	free(v->muted);
	strings_free(v->unknown, v->n_unknown);
	strings_free(v->notes, v->n_notes);
	strings_free(v->hints, v->n_notes);
	free(v);
}

int verdict_mute(struct lp_verdict *v, uint32_t component)
{
	uint32_t *muted;

	for (uint32_t i = 0; i < v->n_muted; i++) {
		if (v->muted[i] == component)
			return 0;
	}
	muted = reallocarray(v->muted, (size_t)v->n_muted + 1, sizeof(*muted));
	if (!muted)
		return -ENOMEM;
	v->muted = muted;
	v->muted[v->n_muted++] = component;
	return 0;
}

static int strings_add(char ***strings, uint32_t *n, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));

/* Append a text to a list. */
static int strings_add(char ***strings, uint32_t *n, const char *fmt, va_list ap)
{
	char *text = NULL, **grown;

	if (vasprintf(&text, fmt, ap) < 0)
		return -ENOMEM;
	grown = reallocarray(*strings, (size_t)*n + 1, sizeof(*grown));
	if (!grown) {
		free(text);
		return -ENOMEM;
	}
	*strings = grown;
	grown[(*n)++] = text;
	return 0;
}

static int note_add(struct lp_verdict *v, const char *hint, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));

/* Both lists have the same length. */
static int note_add(struct lp_verdict *v, const char *hint, const char *fmt, va_list ap)
{
	char **hints = reallocarray(v->hints, (size_t)v->n_notes + 1, sizeof(*hints));
	int r;

	if (!hints)
		return -ENOMEM;
	v->hints = hints;
	hints[v->n_notes] = strdup(hint);
	if (!hints[v->n_notes])
		return -ENOMEM;
	r = strings_add(&v->notes, &v->n_notes, fmt, ap);
	if (r < 0)
		free(hints[v->n_notes]);
	return r;
}

int lp_verdict_note(struct lp_verdict *v, const char *fmt, ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = note_add(v, "", fmt, ap);
	va_end(ap);
	return r;
}

int verdict_note_hint(struct lp_verdict *v, const char *hint, const char *fmt, ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = note_add(v, hint, fmt, ap);
	va_end(ap);
	return r;
}

int verdict_unknown(struct lp_verdict *v, const char *fmt, ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = strings_add(&v->unknown, &v->n_unknown, fmt, ap);
	va_end(ap);
	return r;
}
