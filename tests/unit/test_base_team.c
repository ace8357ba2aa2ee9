#include "unit.h"

#include "base/cleanup.h"
#include "base/team.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The other process of a team of two, and the data that it shares each time. */
struct other {
	struct strbuf parcel;
	int unreachable;
	unsigned n_calls;
};

static int share(void *ctx, const void *data, uint64_t n, void **ret, uint64_t *ret_sizes)
{
	struct other *o = ctx;
	char *all;

	o->n_calls++;
	if (o->unreachable)
		return o->unreachable;
	all = malloc(n + o->parcel.len + 1);
	assert_non_null(all);
	memcpy(all, data, n);
	memcpy(all + n, o->parcel.text, o->parcel.len);
	ret_sizes[0] = n;
	ret_sizes[1] = o->parcel.len;
	*ret = all;
	return 0;
}

static struct team team_of(struct other *o)
{
	parcel_begin(&o->parcel);
	return (struct team){.size = 2, .ctx = o, .share = share};
}

static void test_shares(void **state)
{
	_cleanup_(team_parcels_release) struct team_parcels all = {0};
	_cleanup_(strbuf_release) struct strbuf mine = {0};
	struct other o = {0};
	struct team t = team_of(&o);
	struct lp_err err = {0};
	char *text, *none;

	(void)state;
	parcel_u64(&o.parcel, 8);
	parcel_begin(&mine);
	parcel_u64(&mine, 7);
	parcel_text(&mine, "seven");
	parcel_text(&mine, NULL);
	assert_int_equal(team_share(&t, &mine, &all, &err), 0);
	assert_int_equal(cursor_u64(&all.of[0]), 7);
	assert_int_equal(parcel_take_text(&all.of[0], &text), 0);
	assert_int_equal(parcel_take_text(&all.of[0], &none), 0);
	assert_string_equal(text, "seven");
	assert_null(none);
	assert_int_equal(parcel_take_text(&all.of[0], &none), -EBADMSG);
	assert_int_equal(cursor_u64(&all.of[1]), 8);
	assert_ptr_equal(all.of[1].p, all.of[1].end);
	free(text);
	strbuf_release(&o.parcel);
}

static void test_work(void **state)
{
	struct team t = {.rank = 1, .size = 3};

	(void)state;
	assert_true(team_mine(NULL, 5));
	assert_true(team_mine(&t, 1) && team_mine(&t, 4));
	assert_false(team_mine(&t, 0) || team_mine(&t, 2));
}

/* The failure of another process becomes that of this one, and no process waits for it again. */
static void test_failure(void **state)
{
	_cleanup_(strbuf_release) struct strbuf mine = {0};
	struct team_parcels all;
	struct other o = {0};
	struct team t = team_of(&o);
	struct lp_err err = {0}, theirs = {0};

	(void)state;
	lp_err_set(&theirs, -ENOSPC, "no room");
	memcpy(o.parcel.text, &theirs, sizeof(theirs));
	parcel_begin(&mine);
	assert_int_equal(team_share(&t, &mine, &all, &err), -ENOSPC);
	assert_string_equal(err.text, "no room");
	assert_null(all.of);
	assert_int_equal(team_share(&t, &mine, &all, &err), -ENOSPC);
	assert_int_equal(team_agree(&t, -ENOSPC, &err), -ENOSPC);
	assert_int_equal(o.n_calls, 1);
	strbuf_release(&o.parcel);
}

static void test_agree(void **state)
{
	struct lp_err err = {0};
	struct other o = {0};
	struct team t = team_of(&o);

	(void)state;
	assert_int_equal(team_agree(NULL, -EIO, &err), -EIO);
	assert_int_equal(team_agree(&t, 0, &err), 0);
	lp_err_set(&err, -EINVAL, "our own");
	assert_int_equal(team_agree(&t, -EINVAL, &err), -EINVAL);
	assert_string_equal(err.text, "our own");
	strbuf_release(&o.parcel);
}

static void test_unreachable(void **state)
{
	struct lp_err err = {0};
	struct other o = {.unreachable = -EIO};
	struct team t = team_of(&o);

	(void)state;
	assert_int_equal(team_agree(&t, 0, &err), -EIO);
	assert_non_null(strstr(err.text, "cannot reach each other"));
	strbuf_release(&o.parcel);
}

/* A process of which only a part arrives, or that runs out of memory. */
static void test_nonsense(void **state)
{
	_cleanup_(strbuf_release) struct strbuf mine = {0};
	struct team_parcels all;
	struct lp_err err = {0};
	struct other o = {0};
	struct team t = team_of(&o), again;

	(void)state;
	again = t;
	parcel_begin(&mine);
	mine.failed = true;
	assert_int_equal(team_share(&t, &mine, &all, &err), -ENOMEM);
	mine.failed = false;
	o.parcel.len = 3;
	assert_int_equal(team_share(&again, &mine, &all, &err), -EBADMSG);
	strbuf_release(&o.parcel);
}

static void test_follow(void **state)
{
	struct lp_err err = {0};
	struct other o = {0};
	struct team t = team_of(&o);
	int64_t mine = 5;

	(void)state;
	assert_int_equal(team_follow(NULL, &mine, sizeof(mine), &err), 0);
	assert_int_equal(team_follow(&t, &mine, sizeof(mine), &err), 0);
	assert_int_equal(mine, 5);
	t.rank = 1; /* what comes first is said by the other one now, and is nothing */
	assert_int_equal(team_follow(&t, &mine, sizeof(mine), &err), -EBADMSG);
	strbuf_release(&o.parcel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_shares),
		cmocka_unit_test(test_work), cmocka_unit_test(test_failure),
		cmocka_unit_test(test_agree), cmocka_unit_test(test_unreachable),
		cmocka_unit_test(test_nonsense), cmocka_unit_test(test_follow)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
