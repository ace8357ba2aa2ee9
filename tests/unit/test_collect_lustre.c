/* The collectors of Lustre, on recorded trees of two versions. */
#include "collect_run.h"

/* Sample both moments of a tree. */
static void run_both(struct run *r, const char *collector, const char *tree)
{
	run_init_tree(r, collector, tree, 1);
	run_sample(r);
	run_moment(r, 2);
	run_sample(r);
}

static void check_osts(const char *tree, const char *names, const char *first, bool has_times)
{
	struct run r;

	run_both(&r, "lustre_ost", tree);
	run_assert_names(&r, names);
	assert_int_equal(run_state(&r, first, 0), LP_PRESENT | LP_FRESH);
	assert_int_equal(run_state(&r, first, 1), LP_PRESENT);
	assert_int_equal(run_value(&r, first, "rd_ops", 1), 1100);
	assert_int_equal(run_value(&r, first, "wr_bytes", 1), INT64_C(2200) * 1048576);
	assert_int_equal(run_value(&r, first, "wr_us", 1), has_times ? 2200 * 6000 : LP_MISSING);
	assert_int_equal(run_value(&r, first, "io_times", 1), 523);
	assert_int_equal(run_value(&r, first, "clients", 1), 9);
	assert_int_equal(run_value(&r, first, "total_kb", 1), 1000000);
	run_close(&r);
}

static void test_osts(void **state)
{
	(void)state;
	check_osts("lustre-2.10", "scratch-OST0000 scratch-OST0001", "scratch-OST0000", false);
	check_osts("lustre-2.15", "work-OST0000 work-OST0001", "work-OST0000", true);
}

static void test_recovery(void **state)
{
	struct run r;

	(void)state;
	run_both(&r, "lustre_ost", "lustre-2.10");
	assert_int_equal(run_value(&r, "scratch-OST0000", "recovering", 0), 0);
	assert_int_equal(run_value(&r, "scratch-OST0001", "recovering", 0), 1);
	run_close(&r);
}

static void test_mdts(void **state)
{
	struct run r;

	(void)state;
	run_both(&r, "lustre_mdt", "lustre-2.10");
	run_assert_names(&r, "scratch-MDT0000");
	assert_int_equal(run_value(&r, "scratch-MDT0000", "opens", 1), 1100);
	assert_int_equal(run_value(&r, "scratch-MDT0000", "creates", 1), 15); /* mknod, mkdir */
	assert_int_equal(run_value(&r, "scratch-MDT0000", "op_us", 1), LP_MISSING);
	run_close(&r);
	run_both(&r, "lustre_mdt", "lustre-2.15");
	assert_int_equal(run_value(&r, "work-MDT0000", "opens", 1), 1100);
	assert_int_equal(run_value(&r, "work-MDT0000", "timed_ops", 0), 6985);
	assert_int_equal(run_value(&r, "work-MDT0000", "op_us", 0), 6985 * 200);
	run_close(&r);
}

static void test_clients(void **state)
{
	struct run r;

	(void)state;
	run_both(&r, "lustre_osc", "lustre-2.10");
	/* Connections of the MDT are not those of the client. */
	run_assert_names(&r, "scratch-OST0000 scratch-OST0001");
	assert_int_equal(run_value(&r, "scratch-OST0000", "rpcs", 1), 550);
	assert_int_equal(run_value(&r, "scratch-OST0000", "wait_us", 1), 550 * 2000);
	assert_int_equal(run_value(&r, "scratch-OST0000", "in_flight", 1), 5);
	assert_int_equal(run_value(&r, "scratch-OST0000", "connected", 1), 1);
	assert_int_equal(run_value(&r, "scratch-OST0001", "connected", 1), 0);
	run_assert_label(&r, "scratch-OST0000", "ost", "scratch-OST0000");
	run_assert_label(&r, "scratch-OST0000", "nid", "10.0.0.11@o2ib");
	run_close(&r);
	run_both(&r, "lustre_osc", "lustre-2.15");
	run_assert_names(&r, "work-OST0000 work-OST0001");
	assert_int_equal(run_value(&r, "work-OST0000", "wr_rpcs", 1), 101);
	assert_int_equal(run_value(&r, "work-OST0000", "connected", 1), 1); /* IDLE */
	run_assert_label(&r, "work-OST0000", "nid", "10.0.0.11@o2ib");
	run_close(&r);
}

static void test_jobs(void **state)
{
	struct run r;

	(void)state;
	run_both(&r, "lustre_jobs", "lustre-2.10");
	run_assert_names(&r, "dd.0 4711");
	/* On both OSTs. */
	assert_int_equal(run_value(&r, "dd.0", "wr_bytes", 1), INT64_C(2) * 2000 * 1048576);
	assert_int_equal(run_value(&r, "4711", "rd_bytes", 1), INT64_C(2) * 3 * 1048576);
	run_close(&r);
	run_both(&r, "lustre_jobs", "lustre-2.15");
	run_assert_names(&r, "dd.0 batch\\x20job.4711@n1");
	run_close(&r);
}

/* A server that has seen many jobs keeps its memory. */
static void test_many_jobs(void **state)
{
	char dir[PATH_MAX], text[64 * 1024] = "job_stats:\n";
	size_t len = strlen(text);
	struct run r;

	(void)state;
	tree_make(dir);
	for (int i = 0; i < 300; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
			"- job_id: j%d\n  write_bytes: { samples: 1, sum: 10 }\n", i);
	tree_put(dir, "proc/fs/lustre/obdfilter/a-OST0000/job_stats", text);
	run_init(&r, "lustre_jobs", dir);
	run_sample(&r);
	assert_int_equal(r.sink.batch->kinds[0].n_components, 257);
	assert_int_equal(run_value(&r, "j255", "wr_bytes", 0), 10);
	assert_int_equal(run_value(&r, "other", "wr_bytes", 0), 440);
	run_close(&r);
	tree_remove(dir);
}

static void test_lnet(void **state)
{
	struct run r;

	(void)state;
	run_both(&r, "lnet", "lustre-2.10");
	run_assert_names(&r, "10.0.0.1@o2ib all");
	assert_int_equal(run_value(&r, "10.0.0.1@o2ib", "credits_min", 0), -12);
	assert_int_equal(run_value(&r, "10.0.0.1@o2ib", "up", 0), LP_MISSING);
	assert_int_equal(run_value(&r, "all", "sent", 1), 101000);
	run_close(&r);
	run_both(&r, "lnet", "lustre-2.15");
	run_assert_names(&r, "10.0.0.1@o2ib 10.0.1.1@o2ib1 all");
	assert_int_equal(run_value(&r, "10.0.0.1@o2ib", "up", 0), 1);
	assert_int_equal(run_value(&r, "10.0.1.1@o2ib1", "up", 0), 0);
	assert_int_equal(run_value(&r, "10.0.1.1@o2ib1", "credits", 0), -3);
	run_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_osts),
		cmocka_unit_test(test_recovery),
		cmocka_unit_test(test_mdts),
		cmocka_unit_test(test_clients),
		cmocka_unit_test(test_jobs),
		cmocka_unit_test(test_many_jobs),
		cmocka_unit_test(test_lnet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
