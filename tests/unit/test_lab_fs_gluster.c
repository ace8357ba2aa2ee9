#include "unit.h"

#include "lab/fs.h"
#include "lab/fs_gluster.h"
#include "lab_rig.h"
#include <string.h>

/* Every volume's subvolumes are volumes before it. */
static void check_graph(const char *text)
{
	char copy[8192], defined[1024] = " ", *rest = NULL;
	assert_true((size_t)snprintf(copy, sizeof(copy), "%s", text) < sizeof(copy));
	for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char name[32], *more = NULL;
		if (sscanf(line, "volume %30s", name) == 1) {
			size_t len = strlen(defined);
			snprintf(defined + len, sizeof(defined) - len, "%s ", name);
		} else if (!strncmp(line, "  subvolumes ", 13)) {
			char *word = strtok_r(line + 13, " ", &more);
			assert_non_null(word);
			for (; word; word = strtok_r(NULL, " ", &more)) {
				snprintf(name, sizeof(name), " %.28s ", word);
				assert_non_null(strstr(defined, name));
			}
		}
	}
}

static void a_server_serves_its_brick_at_its_address(void **state)
{
	struct lab lab;
	struct strbuf sb = {0};
	(void)state;
	lab_rig(&lab);
	gluster_server_volfile(&lab, &lab.nodes[1], &sb);
	assert_false(sb.failed);
	check_graph(sb.text);
	assert_non_null(strstr(sb.text, "  option directory /run/limpet/rig/s2/brick\n"));
	assert_non_null(strstr(sb.text, "bind-address 10.91.1.2\n"));
	assert_non_null(strstr(sb.text, "listen-port 24007\n"));
	assert_non_null(strstr(sb.text, "  option auth.addr.threads.allow *\n"));
	/* With it, writes that are not aligned fail. */
	assert_null(strstr(sb.text, "o-direct"));
	assert_null(strstr(sb.text, "10.91.1.1"));
	strbuf_release(&sb);
}

static void a_client_distributes_over_all_servers(void **state)
{
	struct lab lab;
	struct strbuf sb = {0};
	(void)state;
	lab_rig(&lab);
	gluster_client_volfile(&lab, &sb);
	assert_false(sb.failed);
	check_graph(sb.text);
	assert_non_null(strstr(sb.text, "  option remote-host 10.91.1.1\n"));
	assert_non_null(strstr(sb.text, "  option remote-host 10.91.1.2\n"));
	assert_non_null(strstr(sb.text, "  option remote-subvolume threads\n"));
	assert_non_null(strstr(sb.text, "  subvolumes s1 s2\n"));
	assert_non_null(strstr(sb.text, "  option shard-block-size 4MB\n"));
	assert_null(strstr(sb.text, "c1"));
	strbuf_release(&sb);
}

static void the_recorder_gets_the_port_of_the_volfiles(void **state)
{
	(void)state;
	assert_int_equal(fs_find("gluster")->port, 24007);
	assert_null(fs_find("lustre"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_server_serves_its_brick_at_its_address),
		cmocka_unit_test(a_client_distributes_over_all_servers),
		cmocka_unit_test(the_recorder_gets_the_port_of_the_volfiles),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
