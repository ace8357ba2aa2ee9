#include "model/naming.h"

#include "base/array.h"
#include "unit.h"
#include <stdlib.h>

static void test_names(void **state)
{
	static const char *const cases[][2] = {
		{"oss5/disk:sdb", "oss5: disk sdb"},
		{"oss5/net:eth0", "oss5: interface eth0"},
		{"oss5/host:cpu", "oss5"},
		{"oss5/sys:glusterfsd", "oss5: program glusterfsd"},
		{"oss5/tcp:all:in", "oss5: TCP from clients"},
		{"oss5/tcp:peers:out", "oss5: TCP as clients see it"},
		{"c3/tcp:all:out", "c3: TCP to servers"},
		{"c3/tcp:peers:in", "c3: TCP as servers see it"},
		{"oss5/tcp:servers:in", "oss5: TCP among servers"},
		{"oss5/tcp:server-peers:out", "oss5: TCP as other servers see it"},
		{"c3/tcp:10.0.0.7:out", "c3: TCP to 10.0.0.7"},
		{"oss5/peer:clients", "oss5: requests as clients see them"},
		{"oss5/functions:all", "oss5: functions"},
		{"lustre/ost:0004", "lustre: OST 0004"},
		{"oss5/widget:7", "oss5: widget 7"},
		{"disk7", "disk7"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct lp_identity *id = lp_identity_parse(cases[i][0]);
		struct strbuf sb = {0};

		naming_add(&sb, id);
		assert_string_equal(sb.text, cases[i][1]);
		strbuf_release(&sb);
		lp_identity_unref(id);
	}
}

static void test_parts(void **state)
{
	struct strbuf sb = {0};

	(void)state;
	naming_add_part(&sb, "observer:fs16");
	strbuf_putc(&sb, '|');
	naming_add_part(&sb, "controller:ddn12a");
	strbuf_putc(&sb, '|');
	naming_add_part(&sb, "remote:10.0.0.7");
	strbuf_putc(&sb, '|');
	naming_add_part(&sb, "whatever");
	assert_string_equal(sb.text, "fs16|controller ddn12a|10.0.0.7|whatever");
	strbuf_release(&sb);
}

static void test_stable(void **state)
{
	struct lp_identity *id = lp_identity_new("oss5", "disk", "sdb",
		"devno=8:16\nby_id=wwn-0x5000c5\nserial=ZC1A\nmodel=ST4000\nmpath=mpatha\n");
	struct lp_identity *bare = lp_identity_new("oss5", "disk", "sdb", NULL);
	struct strbuf sb = {0};

	(void)state;
	assert_true(naming_add_stable(&sb, id));
	assert_string_equal(sb.text, "multipath mpatha, serial ZC1A, wwn-0x5000c5, model ST4000");
	strbuf_release(&sb);
	assert_false(naming_add_stable(&sb, bare));
	assert_null(sb.text);
	lp_identity_unref(id);
	lp_identity_unref(bare);
}

/* Names come from files that anybody may have written: a command with one must stay one command. */
static void test_quotes(void **state)
{
	struct strbuf sb = {0};

	(void)state;
	naming_add_quoted(&sb, "nvme0n1");
	strbuf_putc(&sb, ' ');
	naming_add_quoted(&sb, "a; rm -rf /");
	strbuf_putc(&sb, ' ');
	naming_add_quoted(&sb, "it's");
	strbuf_putc(&sb, ' ');
	naming_add_quoted(&sb, "");
	assert_string_equal(sb.text, "nvme0n1 'a; rm -rf /' 'it'\\''s' ''");
	strbuf_release(&sb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_names),
		cmocka_unit_test(test_parts), cmocka_unit_test(test_stable),
		cmocka_unit_test(test_quotes)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
