/* Patterns of names with captures, "fs{server}/disk:{array}.*", and text made from captures.
 *
 * In a pattern, * is any text, ? is any character, [a-z] is one of a set ([!a-z] is one outside of
 * it), and {name} is a capture: text of at least one character, as short as the rest allows, from
 * left to right. A backslash quotes the next character. The time of a match is at most proportional
 * to the length of the name times that of the pattern.
 */
#ifndef MODEL_TOPOLOGY_PATTERN_H
#define MODEL_TOPOLOGY_PATTERN_H

#include <limpet/err.h>
#include <limpet/identity.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATTERN_CAPTURES_MAX 16

struct pattern_item;

struct pattern {
	struct pattern_item *items;
	size_t n, cap;
	char *captures[PATTERN_CAPTURES_MAX]; /* their names */
	unsigned n_captures;
};

/* The captures of a pattern in a name. */
struct pattern_match {
	const char *text[PATTERN_CAPTURES_MAX];
	size_t len[PATTERN_CAPTURES_MAX];
};

/* Compile a pattern. Zero-initialise `ret`, and call pattern_release() even after a failure. */
int pattern_compile(const char *text, struct pattern *ret, struct lp_err *err);
void pattern_release(struct pattern *p);

/* The number of a capture, or -1. */
int pattern_capture(const struct pattern *p, const char *name);

/* Does the whole of `name[0..len)` match? `ret` may be NULL. */
bool pattern_matches(
	const struct pattern *p, const char *name, size_t len, struct pattern_match *ret);

/* A piece of a template: fixed text, a capture, or a part of the component's name. */
struct text_part {
	enum { TEXT_FIXED, TEXT_CAPTURE, TEXT_OWN } type;
	char *fixed;
	unsigned number; /* of the capture; for TEXT_OWN an enum topology_own */
};

struct text_template {
	struct text_part *parts;
	size_t n, cap;
};

/* Resolve `{name}` next to a pattern: one of its captures, else an attribute that every component
 * has.
 */
int text_part_find(
	const struct pattern *p, const char *name, struct text_part *ret, struct lp_err *err);

/* The text of a piece for a component that the pattern matched. */
const char *text_part_get(const struct text_part *part, const struct lp_identity *component,
	const struct pattern_match *match, size_t *ret_len);

/* Compile a template, "ddn{array}a". Zero-initialise `ret`, and call text_template_release() even
 * after a failure. */
int text_template_compile(
	const char *text, const struct pattern *p, struct text_template *ret, struct lp_err *err);
void text_template_release(struct text_template *t);

/* Expand it into `buf`; truncated if it does not fit. */
void text_template_expand(const struct text_template *t, const struct lp_identity *component,
	const struct pattern_match *match, char *buf, size_t size);

#endif
