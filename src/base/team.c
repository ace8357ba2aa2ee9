#include "base/team.h"

#include "base/cleanup.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_TEXT UINT64_MAX

void team_parcels_release(struct team_parcels *p)
{
	free(p->data);
	free(p->of);
	*p = (struct team_parcels){0};
}

bool team_mine(const struct team *t, uint64_t i)
{
	return !t || i % (uint64_t)t->size == (uint64_t)t->rank;
}

/* Every parcel begins with the result of its process. */
static int parcels_open(struct team *t, struct team_parcels *p, const uint64_t *sizes)
{
	const uint8_t *at = p->data;

	p->of = calloc((size_t)t->size, sizeof(*p->of));
	if (!p->of)
		return lp_err_sys(&t->failure, -ENOMEM, "cannot work together");
	for (int i = 0; i < t->size; i++) {
		struct lp_err head;
		const uint8_t *bytes;

		p->of[i] = (struct cursor){.p = at, .end = at + sizes[i]};
		at += sizes[i];
		bytes = cursor_bytes(&p->of[i], sizeof(head));
		if (!bytes)
			return lp_err_set(
				&t->failure, -EBADMSG, "process %d hands over nonsense", i);
		memcpy(&head, bytes, sizeof(head));
		if (head.code && !t->failure.code)
			t->failure = head;
	}
	return t->failure.code;
}

/* `mine` begins with a header. */
static int parcels_share(struct team *t, const struct strbuf *mine, struct team_parcels *ret)
{
	_cleanup_free_ uint64_t *sizes = calloc((size_t)t->size, sizeof(*sizes));
	int r;

	if (!sizes)
		return lp_err_sys(&t->failure, -ENOMEM, "cannot work together");
	r = t->share(t->ctx, mine->text, mine->len, &ret->data, sizes);
	if (r < 0)
		return lp_err_sys(&t->failure, r, "the processes cannot reach each other");
	return parcels_open(t, ret, sizes);
}

static int failure_tell(const struct team *t, struct lp_err *err)
{
	if (err && t->failure.code)
		*err = t->failure;
	return t->failure.code;
}

void parcel_begin(struct strbuf *sb)
{
	const struct lp_err head = {0};

	strbuf_reset(sb);
	strbuf_add(sb, &head, sizeof(head));
}

int team_share(
	struct team *t, const struct strbuf *mine, struct team_parcels *ret, struct lp_err *err)
{
	struct lp_err head = {0};
	struct strbuf failed = {.text = (char *)&head, .len = sizeof(head)};

	*ret = (struct team_parcels){0};
	if (t->failure.code)
		return failure_tell(t, err);
	if (mine->failed)
		lp_err_sys(&head, -ENOMEM, "cannot work together");
	if (parcels_share(t, mine->failed ? &failed : mine, ret) < 0)
		team_parcels_release(ret);
	return failure_tell(t, err);
}

int team_agree(struct team *t, int r, struct lp_err *err)
{
	_cleanup_(team_parcels_release) struct team_parcels all = {0};
	struct lp_err head = {0};
	struct strbuf mine = {.text = (char *)&head, .len = sizeof(head)};

	if (!t || t->failure.code)
		return r;
	if (r < 0) {
		head = *err;
		head.code = r;
	}
	parcels_share(t, &mine, &all);
	return failure_tell(t, err);
}

int team_follow(struct team *t, void *data, size_t n, struct lp_err *err)
{
	_cleanup_(team_parcels_release) struct team_parcels all = {0};
	_cleanup_(strbuf_release) struct strbuf mine = {0};
	const uint8_t *bytes;
	int r;

	if (!t)
		return 0;
	parcel_begin(&mine);
	if (t->rank == 0)
		strbuf_add(&mine, data, n);
	r = team_share(t, &mine, &all, err);
	if (r < 0)
		return r;
	bytes = cursor_bytes(&all.of[0], n);
	if (!bytes)
		return lp_err_set(err, -EBADMSG, "the first process hands over nonsense");
	memcpy(data, bytes, n);
	return 0;
}

void parcel_u64(struct strbuf *sb, uint64_t v)
{
	uint8_t bytes[sizeof(v)];

	put_u64(bytes, v);
	strbuf_add(sb, bytes, sizeof(bytes));
}

void parcel_text(struct strbuf *sb, const char *text)
{
	parcel_u64(sb, text ? strlen(text) : NO_TEXT);
	if (text)
		strbuf_add(sb, text, strlen(text));
}

int parcel_take_text(struct cursor *c, char **ret)
{
	uint64_t len = cursor_u64(c);
	const uint8_t *bytes;

	*ret = NULL;
	if (len == NO_TEXT && !c->bad)
		return 0;
	bytes = cursor_bytes(c, len);
	if (!bytes)
		return -EBADMSG;
	*ret = strndup((const char *)bytes, len);
	return *ret ? 0 : -ENOMEM;
}
