#include "trace/ports.h"

#include "collect_run.h"
#include <stdlib.h>

#define HEAD "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"

static int ascending(const void *a, const void *b)
{
	return *(const uint16_t *)a - *(const uint16_t *)b;
}

static void make(char dir[PATH_MAX])
{
	tree_make(dir);
	tree_put(dir, "proc/12/comm", "server\n");
	tree_put(dir, "proc/12/net/tcp",
		HEAD "   0: 00000000:5DC7 00000000:0000 0A 00000000:00000000 00:00000000 0\n"
		     "   1: 0100007F:0016 0200007F:C001 01 00000000:00000000 00:00000000 0\n"
		     "   2: 00000000:5DC7 00000000:0000 0A 00000000:00000000 00:00000000 0\n");
	tree_put(dir, "proc/12/net/tcp6",
		HEAD "   0: 00000000000000000000000000000000:0050 "
		     "00000000000000000000000000000000:0000 0A 00000000:00000000\n");
	tree_put(dir, "proc/13/comm", "client\n");
	tree_put(dir, "proc/13/net/tcp", HEAD "nonsense\n  1: 00000000:0007\n :::: 0A\n");
	tree_put(dir, "proc/self/net/tcp", HEAD " 0: 00000000:0001 00000000:0000 0A 0\n");
	tree_put(dir, "group/cgroup.procs", "13\n12\n");
}

static void test_find(void **state)
{
	const char *const names[] = {"server", "nobody"};
	const pid_t pids[] = {13, 12, 99};
	char *const command[] = {"x", NULL};
	char dir[PATH_MAX], proc[PATH_MAX + 8], group[PATH_MAX + 8];
	uint16_t ports[8];

	(void)state;
	make(dir);
	snprintf(proc, sizeof(proc), "%s/proc", dir);
	snprintf(group, sizeof(group), "%s/group", dir);
	assert_int_equal(trace_ports_find(proc, &(struct trace_targets){.pids = pids, .n_pids = 3},
				 ports, 8),
		2);
	qsort(ports, 2, sizeof(*ports), ascending);
	assert_int_equal(ports[0], 80);
	assert_int_equal(ports[1], 24007);
	assert_int_equal(trace_ports_find(proc,
				 &(struct trace_targets){.comms = names, .n_comms = 2}, ports, 8),
		2);
	assert_int_equal(
		trace_ports_find(proc, &(struct trace_targets){.cgroup = group}, ports, 1), 1);
	assert_int_equal(
		trace_ports_find(proc, &(struct trace_targets){.command = command}, ports, 8), 1);
	assert_int_equal(ports[0], 1);
	assert_int_equal(trace_ports_find(proc, &(struct trace_targets){0}, ports, 8), 0);
	tree_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_find)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
