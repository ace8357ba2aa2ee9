#include "lab/fault.h"
#include "temp_dir.h"
#include "unit.h"
#include <errno.h>
#include <limpet/err.h>

/* A lab of two servers and a client of which nothing is up. */
static struct lab lab_make(void)
{
	struct lab lab = {
		.config = {.name = "unittest", .n_servers = 2, .n_clients = 1, .link_kbit = 100000},
		.n_nodes = 3};
	static const char *const names[] = {"s1", "s2", "c1"};

	snprintf(lab.dir, sizeof(lab.dir), "%s", temp_path(""));
	for (unsigned i = 0; i < 3; i++) {
		struct lab_node *n = &lab.nodes[i];

		n->role = i < 2 ? LAB_SERVER : LAB_CLIENT;
		snprintf(n->name, sizeof(n->name), "%s", names[i]);
		snprintf(n->netns, sizeof(n->netns), "limpet-unittest-%s", names[i]);
	}
	temp_mkdir("run");
	temp_mkdir("log");
	return lab;
}

static void check_parsed(const char *text, const char *name, double strength, const char *on)
{
	struct fault_spec s = {0}, again = {0};
	struct lp_err err = {0};
	char buf[FAULT_TEXT_MAX];

	if (fault_parse(text, &s, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	assert_string_equal(s.fault->name, name);
	assert_true(s.strength == strength);
	assert_string_equal(s.on, on);
	assert_int_equal(fault_parse(fault_format(&s, buf), &again, &err), 0);
	assert_ptr_equal(again.fault, s.fault);
	assert_true(again.strength == s.strength);
	assert_string_equal(again.on, s.on);
}

static void test_parse(void **state)
{
	(void)state;
	check_parsed("disk-hog", "disk-hog", fault_find("disk-hog")->strength_default, "");
	check_parsed("slow-disk:2", "slow-disk", 2, "");
	check_parsed("slow-disk:2.5@s12", "slow-disk", 2.5, "s12");
	check_parsed("send-pktloss@s3", "send-pktloss", 5, "s3");
	check_parsed("pause@s1", "pause", 0, "s1");
}

static void check_refused(const char *text, const char *words)
{
	struct fault_spec s = {.strength = 77};
	struct lp_err err = {0};

	assert_int_equal(fault_parse(text, &s, &err), -EINVAL);
	if (!strstr(err.text, words))
		fail_msg("'%s' is refused with: %s", text, err.text);
	assert_true(s.strength == 77);
}

static void test_parse_refuses(void **state)
{
	(void)state;
	check_refused("", "name a fault: disk-hog, ");
	check_refused("@s1", "name a fault");
	check_refused("disk", "there is no fault 'disk' (want disk-hog, ");
	check_refused("disk", " or err-vmsize");
	check_refused("a-name-that-is-longer-than-any-fault-can-be", "there is no fault 'a-name");
	check_refused("pause:3", "pause takes no strength");
	check_refused("slow-disk:", "want a number (times as long)");
	check_refused("slow-disk:@s1", "want a number");
	check_refused("slow-disk:x", "not 'x'");
	check_refused("slow-disk:nan", "not 'nan'");
	check_refused("slow-disk:0x4", "not '0x4'");
	check_refused("slow-disk: 4", "not ' 4'");
	check_refused("slow-disk:1.2.3", "not '1.2.3'");
	check_refused("slow-disk:.", "not '.'");
	check_refused("slow-disk:-2", "not '-2'");
	check_refused("slow-disk:2:3", "not '2:3'");
	check_refused("slow-disk:100000000000000000000", "want a number");
	check_refused("send-pktloss:100", "want 0.1 to 90 (percent of packets), not 100");
	check_refused("send-pktloss:0", "want 0.1 to 90");
	check_refused("disk-hog@", "want a server (s1, s2, ...) after '@', not ''");
	check_refused("disk-hog@c1", "not 'c1'");
	check_refused("disk-hog@s0", "not 's0'");
	check_refused("disk-hog@s123", "not 's123'");
	check_refused("disk-hog@s1:4", "not 's1:4'");
	check_refused("disk-hog@s1x", "not 's1x'");
}

static void test_table(void **state)
{
	struct fault_spec s;

	(void)state;
	assert_non_null(faults[0]);
	for (const struct fault *const *f = faults; *f; f++) {
		assert_ptr_equal(fault_find((*f)->name), *f); /* so names are unique */
		assert_int_equal(
			strspn((*f)->name, "abcdefghijklmnopqrstuvwxyz-"), strlen((*f)->name));
		assert_true(*(*f)->summary && *(*f)->diagnosis);
		assert_null(strchr((*f)->diagnosis, ' '));
		assert_non_null((*f)->inject);
		assert_non_null((*f)->verify);
		assert_non_null((*f)->heal);
		assert_int_equal(fault_parse((*f)->name, &s, NULL), 0);
		if (!(*f)->strength)
			continue;
		assert_true((*f)->strength_min >= 0);
		assert_true((*f)->strength_min <= (*f)->strength_default);
		assert_true((*f)->strength_default <= (*f)->strength_max);
	}
}

static struct fault_spec spec(const char *text)
{
	struct fault_spec s = {0};

	assert_int_equal(fault_parse(text, &s, NULL), 0);
	return s;
}

static void test_wrong_server(void **state)
{
	struct lab lab = lab_make();
	struct fault_spec nowhere = spec("disk-hog"), third = spec("disk-hog@s3");
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(fault_inject(&lab, &nowhere, &err), -EINVAL);
	assert_string_equal(err.text, "disk-hog: say on which server (s1 to s2)");
	assert_int_equal(fault_inject(&lab, &third, &err), -EINVAL);
	assert_string_equal(err.text, "the lab unittest has no server 's3': want s1 to s2");
	snprintf(third.on, sizeof(third.on), "c1");
	assert_int_equal(fault_heal(&lab, &third, &err), -EINVAL);
	assert_int_equal(fault_verify(&lab, &third, &err), -EINVAL);
}

/* Nothing is up: no fault takes hold, each says so, and none leaves a note. */
static void test_nothing_to_break(void **state)
{
	struct lab lab = lab_make();
	struct fault_spec active[4];

	(void)state;
	for (const struct fault *const *f = faults; *f; f++) {
		struct fault_spec s = spec((*f)->name);
		struct lp_err err = {0};

		snprintf(s.on, sizeof(s.on), "s2");
		assert_true(fault_inject(&lab, &s, &err) < 0);
		if (!strstr(err.text, (*f)->name) || strstr(err.text, "nor can it"))
			fail_msg("%s: %s", (*f)->name, err.text);
		assert_int_equal(fault_active(&lab, active, 4), 0);
		assert_true(fault_verify(&lab, &s, &err) < 0);
		assert_int_equal(fault_heal(&lab, &s, &err), 0);
	}
	assert_int_equal(fault_heal_all(&lab, NULL), 0);
}

static void test_notes(void **state)
{
	struct lab lab = lab_make();
	struct fault_spec active[4], twice = spec("slow-disk:3@s2");
	struct lp_err err = {0};

	(void)state;
	temp_text("run/s2-slow-disk.fault", "slow-disk:3@s2\n");
	temp_text("run/s1-pause.fault", "");
	temp_text("run/s1-nonsense.fault", "nonsense\n");
	assert_int_equal(fault_active(&lab, active, 4), 2);
	assert_string_equal(active[0].fault->name, "pause");
	assert_string_equal(active[0].on, "s1");
	assert_true(active[1].strength == 3);
	assert_string_equal(active[1].on, "s2");
	assert_int_equal(fault_active(&lab, active, 1), 1);
	assert_int_equal(fault_inject(&lab, &twice, &err), -EEXIST);
	assert_string_equal(err.text, "slow-disk is active on s2 already: heal it first");
	assert_int_equal(fault_active(&lab, active, 4), 2);
	assert_int_equal(fault_heal_all(&lab, &err), 0);
	assert_int_equal(fault_active(&lab, active, 4), 0);
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, temp_dir_setup, temp_dir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_parse_refuses),
		cmocka_unit_test(test_table),
		IN_DIR(test_wrong_server),
		IN_DIR(test_nothing_to_break),
		IN_DIR(test_notes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
