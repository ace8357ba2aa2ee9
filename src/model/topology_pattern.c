#include "model/topology_pattern.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "model/topology_def.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 4096

/* Wildcards (any text, captures) cut a pattern into stretches of items that each match one
 * character. Every stretch is placed as far left as possible after the previous one, and the last
 * one at the end. This finds a match if there is one, because no other choice leaves more room for
 * the rest. */
struct pattern_item {
	enum { ITEM_CHAR, ITEM_ANY_CHAR, ITEM_SET, ITEM_ANY_TEXT, ITEM_CAPTURE } type;
	unsigned char c;
	unsigned capture;
	uint32_t *set; /* 256 bits */
};

void pattern_release(struct pattern *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->items[i].set);
	free(p->items);
	for (unsigned i = 0; i < p->n_captures; i++)
		free(p->captures[i]);
	*p = (struct pattern){0};
}

static bool is_wild(const struct pattern_item *item)
{
	return item->type == ITEM_ANY_TEXT || item->type == ITEM_CAPTURE;
}

static int item_add(struct pattern *p, struct pattern_item item, struct lp_err *err)
{
	const struct pattern_item *last = p->n ? &p->items[p->n - 1] : NULL;

	if (last && is_wild(last) && item.type == ITEM_ANY_TEXT && last->type == ITEM_ANY_TEXT)
		return 0; /* ** is * */
	if (last && is_wild(last) && is_wild(&item))
		return lp_err_set(err, -EINVAL,
			"a capture needs something before and behind it that says where it ends, "
			"not * or another capture");
	if (array_reserve(&p->items, &p->cap, p->n + 1, sizeof(*p->items)) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot compile a pattern");
	p->items[p->n++] = item;
	return 0;
}

/* Captures and attributes are words. */
bool topology_is_word(const char *text, size_t len)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

	return len && len <= 64 && strspn(text, letters) >= len;
}

/* Parse the word in "{word}"; `*text` moves past it. */
static int brace_parse(const char **text, char **ret_word, struct lp_err *err)
{
	const char *word = *text + 1;
	size_t len = strcspn(word, "{}");

	if (word[len] != '}')
		return lp_err_set(err, -EINVAL, "'{' without '}'");
	if (!topology_is_word(word, len))
		return lp_err_set(err, -EINVAL, "'{%.*s}' is not a name (letters, digits, - and _)",
			(int)len, word);
	*ret_word = strndup(word, len);
	*text = word + len + 1;
	return *ret_word ? 0 : lp_err_sys(err, -ENOMEM, "cannot compile a pattern");
}

static int capture_parse(const char **text, struct pattern *p, struct lp_err *err)
{
	_cleanup_free_ char *name = NULL;
	int r = brace_parse(text, &name, err);

	if (r < 0)
		return r;
	if (pattern_capture(p, name) >= 0)
		return lp_err_set(err, -EINVAL, "'{%s}' is given twice", name);
	if (topology_own_find(name) == OWN_COMPONENT)
		return lp_err_set(err, -EINVAL, "'{component}' is always the whole name");
	if (p->n_captures == PATTERN_CAPTURES_MAX)
		return lp_err_set(err, -EINVAL, "more than %d captures", PATTERN_CAPTURES_MAX);
	r = item_add(p, (struct pattern_item){.type = ITEM_CAPTURE, .capture = p->n_captures}, err);
	if (r == 0)
		p->captures[p->n_captures++] = TAKE_PTR(name);
	return r;
}

static void set_add(uint32_t *set, unsigned char first, unsigned char last)
{
	for (unsigned c = first; c <= last; c++)
		set[c / 32] |= UINT32_C(1) << (c % 32);
}

/* Parse the contents of the brackets; returns the end of the set, or NULL. A ']' at the beginning
 * is a member.
 */
static const char *set_fill(const char *p, uint32_t *set)
{
	const char *first = p;

	while (*p && (*p != ']' || p == first)) {
		unsigned char from = (unsigned char)*p, to = from;

		if (p[1] == '-' && p[2] && p[2] != ']') {
			to = (unsigned char)p[2];
			p += 2;
		}
		if (to < from)
			return NULL;
		set_add(set, from, to);
		p++;
	}
	return *p ? p + 1 : NULL;
}

static int set_parse(const char **text, struct pattern *p, struct lp_err *err)
{
	bool inverse = (*text)[1] == '!' || (*text)[1] == '^';
	_cleanup_free_ uint32_t *set = calloc(8, sizeof(*set));
	int r;

	if (!set)
		return lp_err_sys(err, -ENOMEM, "cannot compile a pattern");
	*text = set_fill(*text + 1 + inverse, set);
	if (!*text)
		return lp_err_set(err, -EINVAL, "'[' without ']', or a range that runs backwards");
	for (int i = 0; inverse && i < 8; i++)
		set[i] = ~set[i];
	r = item_add(p, (struct pattern_item){.type = ITEM_SET, .set = set}, err);
	if (r == 0)
		TAKE_PTR(set);
	return r;
}

/* Parse one item; `*text` moves past it. */
static int item_parse(const char **text, struct pattern *p, struct lp_err *err)
{
	struct pattern_item item = {.type = ITEM_CHAR};

	switch (**text) {
	case '{':
		return capture_parse(text, p, err);
	case '[':
		return set_parse(text, p, err);
	case '}':
		return lp_err_set(err, -EINVAL, "'}' without '{'");
	case '*':
		item.type = ITEM_ANY_TEXT;
		break;
	case '?':
		item.type = ITEM_ANY_CHAR;
		break;
	case '\\':
		if (!*++*text)
			return lp_err_set(err, -EINVAL, "nothing follows the last backslash");
		break;
	default:
		break;
	}
	item.c = (unsigned char)*(*text)++;
	return item_add(p, item, err);
}

int pattern_compile(const char *text, struct pattern *ret, struct lp_err *err)
{
	const char *p = text;
	int r = 0;

	if (!*text)
		return lp_err_set(err, -EINVAL, "an empty pattern matches nothing");
	if (strlen(text) > TEXT_MAX)
		return lp_err_set(err, -EINVAL, "a pattern of more than %d characters", TEXT_MAX);
	while (r == 0 && *p)
		r = item_parse(&p, ret, err);
	return r < 0 ? lp_err_prefix(err, "'%.100s'", text) : 0;
}

int pattern_capture(const struct pattern *p, const char *name)
{
	for (unsigned i = 0; i < p->n_captures; i++) {
		if (!strcmp(p->captures[i], name))
			return (int)i;
	}
	return -1;
}

static inline bool item_takes(const struct pattern_item *item, unsigned char c)
{
	switch (item->type) {
	case ITEM_CHAR:
		return item->c == c;
	case ITEM_SET:
		return item->set[c / 32] >> (c % 32) & 1;
	default:
		return true;
	}
}

/* Does a stretch of `n` items match at `text`, which has that many characters? */
static bool stretch_takes(const struct pattern_item *items, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++) {
		if (!item_takes(&items[i], (unsigned char)text[i]))
			return false;
	}
	return true;
}

static size_t stretch_len(const struct pattern *p, size_t from)
{
	size_t n = 0;

	while (from + n < p->n && !is_wild(&p->items[from + n]))
		n++;
	return n;
}

/* The leftmost place from `at` on where a stretch matches (the end of the name, if it is the last);
 * SIZE_MAX: none. */
static size_t stretch_place(
	const struct pattern *p, size_t from, size_t n, const char *name, size_t len, size_t at)
{
	if (at > len || n > len - at)
		return SIZE_MAX;
	if (from + n == p->n)
		at = len - n;
	for (; at + n <= len; at++) {
		if (stretch_takes(&p->items[from], n, name + at))
			return at;
	}
	return SIZE_MAX;
}

bool pattern_matches(
	const struct pattern *p, const char *name, size_t len, struct pattern_match *ret)
{
	size_t n = stretch_len(p, 0), item = n, at = n;

	if (n > len || !stretch_takes(p->items, n, name) || (n == p->n && n != len))
		return false;
	while (item < p->n) {
		const struct pattern_item *wild = &p->items[item++];
		bool capture = wild->type == ITEM_CAPTURE;
		size_t start = at, place;

		n = stretch_len(p, item);
		place = stretch_place(p, item, n, name, len, at + capture);
		if (place == SIZE_MAX)
			return false;
		if (capture && ret) {
			ret->text[wild->capture] = name + start;
			ret->len[wild->capture] = place - start;
		}
		at = place + n;
		item += n;
	}
	return true;
}

int text_part_find(
	const struct pattern *p, const char *name, struct text_part *ret, struct lp_err *err)
{
	int capture = pattern_capture(p, name), own = topology_own_find(name);

	if (capture < 0 && own < 0)
		return lp_err_set(
			err, -EINVAL, "'{%.64s}' is not a capture of the rule's match", name);
	*ret = (struct text_part){.type = capture >= 0 ? TEXT_CAPTURE : TEXT_OWN,
		.number = (unsigned)(capture >= 0 ? capture : own)};
	return 0;
}

const char *text_part_get(const struct text_part *part, const struct lp_identity *component,
	const struct pattern_match *match, size_t *ret_len)
{
	const char *text;

	switch (part->type) {
	case TEXT_CAPTURE:
		*ret_len = match->len[part->number];
		return match->text[part->number];
	case TEXT_OWN:
		text = topology_own_text(component, (enum topology_own)part->number);
		*ret_len = strlen(text);
		return text;
	default:
		*ret_len = strlen(part->fixed);
		return part->fixed;
	}
}

static int part_add(struct text_template *t, struct text_part part, struct lp_err *err)
{
	if ((part.type == TEXT_FIXED && !part.fixed) ||
		array_reserve(&t->parts, &t->cap, t->n + 1, sizeof(*t->parts)) < 0) {
		free(part.fixed);
		return lp_err_sys(err, -ENOMEM, "cannot compile a value");
	}
	t->parts[t->n++] = part;
	return 0;
}

int text_template_compile(
	const char *text, const struct pattern *p, struct text_template *ret, struct lp_err *err)
{
	int r = 0;

	while (r == 0 && *text) {
		_cleanup_free_ char *name = NULL;
		struct text_part part = {.type = TEXT_FIXED};
		size_t len = strcspn(text, "{}");

		if (*text == '}')
			return lp_err_set(err, -EINVAL, "'}' without '{'");
		if (len) {
			part.fixed = strndup(text, len);
			text += len;
		} else {
			r = brace_parse(&text, &name, err);
			r = r < 0 ? r : text_part_find(p, name, &part, err);
		}
		if (r == 0)
			r = part_add(ret, part, err);
	}
	return r;
}

void text_template_release(struct text_template *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->parts[i].fixed);
	free(t->parts);
	*t = (struct text_template){0};
}

void text_template_expand(const struct text_template *t, const struct lp_identity *component,
	const struct pattern_match *match, char *buf, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < t->n; i++) {
		size_t len, room = size - 1 - used;
		const char *text = text_part_get(&t->parts[i], component, match, &len);

		if (len > room)
			len = room;
		memcpy(buf + used, text, len);
		used += len;
	}
	buf[used] = '\0';
}
