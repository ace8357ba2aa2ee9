#include "trace/stack/spans_team.h"

#include "base/array.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The data that one process has packed begins with this. Its parts follow. */
struct pack_head {
	int64_t error;
	uint64_t n_parts;
};

struct part_head {
	uint64_t file, n;
};

/* A span with the lengths of its texts, which follow it. All processes run the same program. */
struct packed {
	struct span span;
	uint32_t len[4]; /* observer, layer, function, object */
};

static void put(struct strbuf *sb, const void *data, size_t n)
{
	strbuf_add(sb, data, n);
}

static void span_pack(const struct spans *s, size_t i, struct strbuf *sb)
{
	struct packed p = {.span = s->items[i]};
	const char *const texts[4] = {
		s->observer_names[s->observers[i]], p.span.layer, p.span.function, p.span.object};

	for (int k = 0; k < 4; k++)
		p.len[k] = (uint32_t)strlen(texts[k]);
	p.span.layer = p.span.function = p.span.object = NULL;
	put(sb, &p, sizeof(p));
	for (int k = 0; k < 4; k++)
		put(sb, texts[k], p.len[k]);
}

int spans_team_pack(const struct spans *s, const struct spans_part *parts, size_t n_parts,
	int error, struct strbuf *ret)
{
	const struct pack_head head = {error, n_parts};

	put(ret, &head, sizeof(head));
	for (size_t i = 0; i < n_parts; i++) {
		const struct part_head part = {parts[i].file, parts[i].end - parts[i].first};

		put(ret, &part, sizeof(part));
		for (size_t k = parts[i].first; k < parts[i].end; k++)
			span_pack(s, k, ret);
	}
	return ret->failed ? -ENOMEM : 0;
}

/* What is left of a packed text. */
struct reading {
	const char *at, *end;
};

static bool take(struct reading *r, void *to, size_t n)
{
	if ((size_t)(r->end - r->at) < n)
		return false;
	memcpy(to, r->at, n);
	r->at += n;
	return true;
}

static bool span_take(struct reading *r, struct packed *p, char texts[4][SPAN_TEXT_MAX + 1])
{
	if (!take(r, p, sizeof(*p)))
		return false;
	for (int k = 0; k < 4; k++) {
		if (p->len[k] > SPAN_TEXT_MAX || !take(r, texts[k], p->len[k]))
			return false;
		texts[k][p->len[k]] = '\0';
	}
	p->span.layer = texts[1];
	p->span.function = texts[2];
	p->span.object = texts[3];
	return true;
}

/* A part that has to wait for the parts of earlier files. */
struct waiting {
	struct part_head head;
	struct reading spans;
};

static int by_file(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	return (x->head.file > y->head.file) - (x->head.file < y->head.file);
}

struct unpacking {
	struct waiting *parts;
	size_t n, cap;
	char (*texts)[SPAN_TEXT_MAX + 1];
	int error;
};

/* Note the parts of one process. */
static int parts_note(struct unpacking *u, struct reading r)
{
	struct pack_head head;
	struct packed p;

	if (!take(&r, &head, sizeof(head)))
		return -EBADMSG;
	if (head.error && (!u->error || u->error == -EBADMSG))
		u->error = (int)head.error;
	for (uint64_t i = 0; i < head.n_parts; i++) {
		struct waiting w;

		if (!take(&r, &w.head, sizeof(w.head)))
			return -EBADMSG;
		w.spans = r;
		for (uint64_t k = 0; k < w.head.n; k++) {
			if (!span_take(&r, &p, u->texts))
				return -EBADMSG;
		}
		if (array_reserve(&u->parts, &u->cap, u->n + 1, sizeof(w)) < 0)
			return -ENOMEM;
		u->parts[u->n++] = w;
	}
	return 0;
}

static int parts_add(struct spans *s, struct unpacking *u)
{
	int r = 0;

	if (u->n)
		qsort(u->parts, u->n, sizeof(*u->parts), by_file);
	for (size_t i = 0; i < u->n && r == 0; i++) {
		struct packed p;

		for (uint64_t k = 0; k < u->parts[i].head.n && r == 0; k++) {
			if (!span_take(&u->parts[i].spans, &p, u->texts))
				return -EBADMSG;
			r = spans_add(s, u->texts[0], &p.span);
		}
	}
	return r;
}

int spans_team_unpack(struct spans *s, const char *data, const uint64_t *sizes, int n)
{
	struct unpacking u = {.texts = malloc(4 * sizeof(*u.texts))};
	int r = u.texts ? 0 : -ENOMEM;

	for (int i = 0; i < n && r == 0; i++) {
		r = parts_note(&u, (struct reading){data, data + sizes[i]});
		data += sizes[i];
	}
	if (r == 0)
		r = parts_add(s, &u);
	free(u.parts);
	free(u.texts);
	return r < 0 ? r : u.error;
}
