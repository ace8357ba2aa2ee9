#include "unit.h"

#include "lab/fs.h"
#include "lab/fs_moosefs.h"
#include "lab_rig.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void the_master_is_no_server(void **state)
{
	struct strbuf sb = {0};
	struct lab lab;
	char *text;

	(void)state;
	lab_rig(&lab);
	moosefs_master_config(&lab, &sb);
	text = strbuf_take(&sb);
	assert_non_null(strstr(text, "DATA_PATH = /run/limpet/rig/moosefs\n"));
	assert_non_null(strstr(text, "EXPORTS_FILENAME = /run/limpet/rig/moosefs/exports.cfg\n"));
	/* Nothing moves between servers by itself. */
	assert_non_null(strstr(text, "CHUNKS_WRITE_REP_LIMIT = 0,0,0,0\n"));
	free(text);
}

static void every_server_has_its_own(void **state)
{
	struct strbuf sb = {0};
	char *text, master[64];
	struct lab lab;

	(void)state;
	lab_rig(&lab);
	moosefs_server_config(&lab, &lab.nodes[1], &sb);
	text = strbuf_take(&sb);
	snprintf(master, sizeof(master), "MASTER_HOST = %s\n", lab.nodes[lab.n_nodes - 1].address);
	assert_non_null(strstr(text, master));
	assert_non_null(strstr(text, "CSSERV_LISTEN_HOST = 10.91.1.2\n"));
	assert_non_null(strstr(text, "HDD_CONF_FILENAME = /run/limpet/rig/moosefs/s2-hdd.cfg\n"));
	assert_non_null(strstr(text, "DATA_PATH = /run/limpet/rig/s2/brick/state\n"));
	/* Workloads may write zeros, and those are data. */
	assert_non_null(strstr(text, "HDD_SPARSIFY_ON_WRITE = 0\n"));
	free(text);
}

static void it_is_listed(void **state)
{
	(void)state;
	assert_non_null(fs_find("moosefs"));
	assert_int_equal(fs_find("moosefs")->port, 9422);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_master_is_no_server),
		cmocka_unit_test(every_server_has_its_own),
		cmocka_unit_test(it_is_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
