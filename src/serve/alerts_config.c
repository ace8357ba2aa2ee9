#include "serve/alerts_config.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/meant.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define FILE_MAX_BYTES (1 << 20)
#define TARGETS_MAX 64
#define WORDS_MAX 64
#define NAME_MAX_BYTES 64

struct reading {
	yaml_parser_t parser;
	yaml_event_t event;
	bool has_event;
	const char *name; /* of the file */
	struct lp_err *err;
};

void alerts_config_release(struct alerts_config *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct alert_target *t = &c->targets[i];

		free(t->name);
		free(t->url);
		free(t->token_file);
		free(t->ca_file);
		for (char **word = t->command; word && *word; word++)
			free(*word);
		free(t->command);
	}
	free(c->targets);
	free(c->page);
	*c = (struct alerts_config){0};
}

static void reading_release(struct reading *r)
{
	if (r->has_event)
		yaml_event_delete(&r->event);
	yaml_parser_delete(&r->parser);
}

static int wrong(const struct reading *r, size_t line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int wrong(const struct reading *r, size_t line, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return lp_err_set(r->err, -EINVAL, "%s:%zu: %s", r->name, line, text);
}

static size_t line_of(const struct reading *r)
{
	return r->event.start_mark.line + 1;
}

static int no_memory(const struct reading *r)
{
	return lp_err_sys(r->err, -ENOMEM, "cannot read %s", r->name);
}

/* Read the next event. */
static int next(struct reading *r)
{
	if (r->has_event)
		yaml_event_delete(&r->event);
	r->has_event = yaml_parser_parse(&r->parser, &r->event);
	if (r->has_event)
		return 0;
	if (r->parser.error == YAML_MEMORY_ERROR)
		return no_memory(r);
	return wrong(r, r->parser.problem_mark.line + 1, "%s",
		r->parser.problem ? r->parser.problem : "this is not YAML");
}

/* Read a scalar as a string; the next event must be one. */
static int scalar(struct reading *r, const char *what, char **ret)
{
	int e = next(r);
	char *copy;

	if (e < 0)
		return e;
	if (r->event.type != YAML_SCALAR_EVENT)
		return wrong(r, line_of(r), "%s must be text", what);
	if (strlen((const char *)r->event.data.scalar.value) != r->event.data.scalar.length)
		return wrong(r, line_of(r), "%s has a NUL in it", what);
	copy = strdup((const char *)r->event.data.scalar.value);
	if (!copy)
		return no_memory(r);
	free(*ret);
	*ret = copy;
	return 0;
}

static int key_unknown(const struct reading *r, const char *key, const char *const *names)
{
	struct meant m = {.word = key};

	for (const char *const *n = names; *n; n++)
		meant_consider(&m, *n);
	return m.edits
		? wrong(r, line_of(r), "there is no '%.64s' here; did you mean '%s'?", key, m.best)
		: wrong(r, line_of(r), "there is no '%.64s' here", key);
}

static int url_check(const struct reading *r, const char *url)
{
	if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
		return wrong(r, line_of(r), "'%.100s' is not a URL (http:// or https://)", url);
	return 0;
}

/* [program, argument, ...] */
static int command_take(struct reading *r, struct alert_target *t)
{
	size_t n = 0, line;
	int e = next(r);

	line = line_of(r);
	if (e == 0 && r->event.type != YAML_SEQUENCE_START_EVENT)
		return wrong(r, line, "command must be a list: [/path/to/program, argument]");
	if (e < 0)
		return e;
	t->command = calloc(WORDS_MAX + 1, sizeof(*t->command));
	if (!t->command)
		return no_memory(r);
	for (;;) {
		e = next(r);
		if (e < 0 || r->event.type == YAML_SEQUENCE_END_EVENT)
			break;
		if (r->event.type != YAML_SCALAR_EVENT || n == WORDS_MAX)
			return wrong(
				r, line_of(r), "a command is a list of up to %d words", WORDS_MAX);
		t->command[n] = strdup((const char *)r->event.data.scalar.value);
		if (!t->command[n++])
			return no_memory(r);
	}
	if (e == 0 && (!n || t->command[0][0] != '/'))
		return wrong(r, line, "command must begin with the absolute path of a program");
	return e;
}

/* The kind of target that a key names; -1: none. */
static int kind_of(const char *key)
{
	static const char *const keys[] = {[ALERT_ALERTMANAGER] = "alertmanager",
		[ALERT_WEBHOOK] = "webhook",
		[ALERT_COMMAND] = "command"};

	for (int i = 0; i < (int)ARRAY_SIZE(keys); i++) {
		if (!strcmp(key, keys[i]))
			return i;
	}
	return -1;
}

static int kind_take(struct reading *r, int kind, struct alert_target *t)
{
	int e;

	if (t->url || t->command)
		return wrong(r, line_of(r),
			"a target is one of alertmanager, webhook and command, not two");
	t->kind = (enum alert_kind)kind;
	if (t->kind == ALERT_COMMAND)
		return command_take(r, t);
	e = scalar(r, "a URL", &t->url);
	if (e == 0 && t->url)
		e = url_check(r, t->url);
	for (size_t n = t->url ? strlen(t->url) : 0; e == 0 && n && t->url[n - 1] == '/';)
		t->url[--n] = '\0';
	return e;
}

static int level_take(struct reading *r, struct alert_target *t)
{
	_cleanup_free_ char *level = NULL;
	int e = scalar(r, "level", &level);

	if (e < 0 || !level)
		return e;
	t->critical = !strcmp(level, "critical");
	if (!t->critical && strcmp(level, "warning") != 0)
		return wrong(
			r, line_of(r), "level must be 'warning' or 'critical', not '%.64s'", level);
	return 0;
}

/* The value of a key of a target. The key is the current event. */
static int target_key(struct reading *r, struct alert_target *t)
{
	static const char *const names[] = {"name", "alertmanager", "webhook", "command", "level",
		"token_file", "ca_file", NULL};
	char key[64];

	if (r->event.type != YAML_SCALAR_EVENT)
		return wrong(r, line_of(r), "a target must have keys and values: 'webhook: URL'");
	snprintf(key, sizeof(key), "%s", (const char *)r->event.data.scalar.value);
	if (kind_of(key) >= 0)
		return kind_take(r, kind_of(key), t);
	if (!strcmp(key, "name"))
		return scalar(r, "name", &t->name);
	if (!strcmp(key, "level"))
		return level_take(r, t);
	if (!strcmp(key, "token_file"))
		return scalar(r, "token_file", &t->token_file);
	if (!strcmp(key, "ca_file"))
		return scalar(r, "ca_file", &t->ca_file);
	return key_unknown(r, key, names);
}

static int target_check(const struct reading *r, const struct alerts_config *c)
{
	const struct alert_target *t = &c->targets[c->n - 1];

	if (!t->name || !*t->name || strlen(t->name) > NAME_MAX_BYTES)
		return wrong(
			r, t->line, "a target needs a name (%d bytes at most)", NAME_MAX_BYTES);
	for (size_t i = 0; i + 1 < c->n; i++) {
		if (!strcmp(c->targets[i].name, t->name))
			return wrong(r, t->line,
				"the name '%.64s' is already used by the target in line %zu",
				t->name, c->targets[i].line);
	}
	if (!t->url && !t->command)
		return wrong(r, t->line,
			"target '%.64s' needs one of alertmanager, webhook and command", t->name);
	if (t->command && (t->token_file || t->ca_file))
		return wrong(r, t->line, "token_file and ca_file are for URLs");
	return 0;
}

static int target_take(struct reading *r, struct alerts_config *c)
{
	int e = 0;

	if (r->event.type != YAML_MAPPING_START_EVENT)
		return wrong(r, line_of(r), "each target must have keys and values");
	if (c->n == TARGETS_MAX)
		return wrong(r, line_of(r), "there are more than %d targets", TARGETS_MAX);
	if (array_reserve(&c->targets, &c->cap, c->n + 1, sizeof(*c->targets)) < 0)
		return no_memory(r);
	c->targets[c->n++] = (struct alert_target){.line = line_of(r)};
	while ((e = next(r)) == 0 && r->event.type != YAML_MAPPING_END_EVENT) {
		e = target_key(r, &c->targets[c->n - 1]);
		if (e < 0)
			return e;
	}
	return e < 0 ? e : target_check(r, c);
}

static int targets_take(struct reading *r, struct alerts_config *c)
{
	int e = next(r);

	if (e == 0 && r->event.type != YAML_SEQUENCE_START_EVENT)
		return wrong(r, line_of(r), "targets must be a list ('- name: ...')");
	while (e == 0 && (e = next(r)) == 0 && r->event.type != YAML_SEQUENCE_END_EVENT)
		e = target_take(r, c);
	return e;
}

static int page_take(struct reading *r, struct alerts_config *c)
{
	int e = scalar(r, "page", &c->page);

	if (e == 0)
		e = url_check(r, c->page);
	for (size_t n = c->page ? strlen(c->page) : 0; e == 0 && n && c->page[n - 1] == '/';)
		c->page[--n] = '\0';
	return e;
}

static int file_take(struct reading *r, struct alerts_config *c)
{
	static const char *const names[] = {"page", "targets", NULL};
	int e = 0;

	while ((e = next(r)) == 0 && r->event.type != YAML_MAPPING_END_EVENT) {
		const char *key = (const char *)r->event.data.scalar.value;

		if (r->event.type != YAML_SCALAR_EVENT)
			e = wrong(r, line_of(r), "the keys of the file are page and targets");
		else if (!strcmp(key, "page"))
			e = page_take(r, c);
		else if (!strcmp(key, "targets"))
			e = targets_take(r, c);
		else
			e = key_unknown(r, key, names);
		if (e < 0)
			return e;
	}
	return e;
}

/* Read the only document of the file. */
static int document_take(struct reading *r, struct alerts_config *c)
{
	int e = next(r); /* the stream begins */

	if (e == 0)
		e = next(r);
	if (e == 0 && r->event.type == YAML_DOCUMENT_START_EVENT)
		e = next(r);
	if (e < 0)
		return e;
	if (r->event.type != YAML_MAPPING_START_EVENT)
		return wrong(r, line_of(r), "the file must begin with 'page:' or 'targets:'");
	e = file_take(r, c);
	if (e == 0)
		e = next(r); /* the document ends */
	if (e == 0)
		e = next(r);
	if (e == 0 && r->event.type != YAML_STREAM_END_EVENT)
		e = wrong(r, line_of(r), "there is a second document");
	if (e == 0 && !c->n)
		e = wrong(r, 1, "there are no targets");
	return e;
}

int alerts_config_parse(const char *text, size_t len, const char *name, struct alerts_config *ret,
	struct lp_err *err)
{
	_cleanup_(reading_release) struct reading r = {.name = name, .err = err};

	if (!yaml_parser_initialize(&r.parser))
		return no_memory(&r);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
	return document_take(&r, ret);
}

int alerts_config_read(const char *path, struct alerts_config *ret, struct lp_err *err)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	int r = file_slurp(path, FILE_MAX_BYTES, &text, &size, err);

	return r < 0 ? r : alerts_config_parse(text, size, path, ret, err);
}
