#include "unit.h"

#include "lab/fs.h"
#include "lab/fs_ceph.h"
#include "lab_rig.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void every_server_has_its_osd(void **state)
{
	struct strbuf sb = {0};
	char *text, monitor[64];
	struct lab lab;

	(void)state;
	lab_rig(&lab);
	ceph_config(&lab, "01234567-89ab-cdef-0123-456789abcdef", &sb);
	text = strbuf_take(&sb);
	snprintf(monitor, sizeof(monitor), "mon_host = v2:%s:3300\n",
		lab.nodes[lab.n_nodes - 1].address);
	assert_non_null(strstr(text, "fsid = 01234567-89ab-cdef-0123-456789abcdef\n"));
	assert_non_null(strstr(text, monitor));
	assert_non_null(strstr(text,
		"[osd.1]\nosd_data = /run/limpet/rig/s2/brick/osd\npublic_addr = 10.91.1.2\n"));
	assert_non_null(strstr(text, "osd_pool_default_size = 1\n"));
	/* The disks are measured, and not the clients' memory. */
	assert_non_null(strstr(text, "client_oc = false\n"));
	free(text);
}

static void it_is_listed(void **state)
{
	(void)state;
	assert_non_null(fs_find("ceph"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_server_has_its_osd),
		cmocka_unit_test(it_is_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
