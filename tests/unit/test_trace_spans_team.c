#include "unit.h"

#include "trace/stack/spans_team.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void add(struct spans *s, const char *observer, uint64_t id, const char *object)
{
	const struct span span = {.id = id,
		.start_ns = 7,
		.end_ns = 9,
		.offset = (int64_t)id * 10,
		.rank = SPAN_NO_RANK,
		.connection = 77,
		.layer = "posix",
		.function = "write",
		.object = object};

	assert_int_equal(spans_add(s, observer, &span), 0);
}

/* Two processes have read files 0 and 2, and file 1. */
static void pack_two(struct strbuf *all, uint64_t sizes[2], int error)
{
	const struct spans_part parts_a[] = {{0, 0, 2}, {2, 2, 3}}, parts_b[] = {{1, 0, 1}};
	struct spans a = {0}, b = {0};

	add(&a, "host", 1, "/a");
	add(&a, "host", 2, "");
	add(&a, "other", 4, "/c");
	add(&b, "host", 3, "/b");
	assert_int_equal(spans_team_pack(&a, parts_a, 2, 0, all), 0);
	sizes[0] = all->len;
	assert_int_equal(spans_team_pack(&b, parts_b, 1, error, all), 0);
	sizes[1] = all->len - sizes[0];
	spans_release(&a);
	spans_release(&b);
}

static void test_order(void **state)
{
	struct spans s = {0};
	struct strbuf all = {0};
	uint64_t sizes[2];

	(void)state;
	pack_two(&all, sizes, 0);
	assert_int_equal(spans_team_unpack(&s, all.text, sizes, 2), 0);
	assert_int_equal(s.n, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(s.items[i].id, i + 1);
		assert_int_equal(s.items[i].offset, 10 * (i + 1));
		assert_int_equal(s.items[i].connection, 77);
	}
	assert_string_equal(s.items[2].object, "/b");
	assert_string_equal(s.observer_names[s.observers[3]], "other");
	spans_release(&s);
	strbuf_release(&all);
}

static void test_errors(void **state)
{
	struct spans s = {0};
	struct strbuf all = {0};
	uint64_t sizes[2];

	(void)state;
	pack_two(&all, sizes, -EBADMSG);
	assert_int_equal(spans_team_unpack(&s, all.text, sizes, 2), -EBADMSG);
	assert_int_equal(s.n, 4); /* what is good is there */
	spans_release(&s);
	for (uint64_t cut = 1; cut < sizes[1]; cut++) {
		uint64_t shorter[2] = {sizes[0], sizes[1] - cut};

		assert_int_equal(spans_team_unpack(&s, all.text, shorter, 2), -EBADMSG);
		spans_release(&s);
	}
	strbuf_release(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order), cmocka_unit_test(test_errors)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
