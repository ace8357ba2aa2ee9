#include "unit.h"

#include "base/file.h"
#include "lab/workload_env.h"
#include "lab_rig.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *value(const struct workload_env *e, const char *name)
{
	size_t len = strlen(name);
	for (unsigned i = 0; e->items[i]; i++) {
		if (!strncmp(e->items[i], name, len) && e->items[i][len] == '=')
			return e->items[i] + len + 1;
	}
	fail_msg("no %s", name);
	return NULL;
}

static void a_script_is_told_where_it_is(void **state)
{
	struct lab lab;
	struct workload_env e = {0};
	(void)state;
	lab_rig(&lab);
	assert_int_equal(workload_env_make(&lab, 1, &e), 0);
	assert_string_equal(value(&e, "CLIENT"), "2");
	assert_string_equal(value(&e, "CLIENTS"), "2");
	assert_string_equal(value(&e, "SERVERS"), "2");
	assert_string_equal(value(&e, "SEED"), "7");
	assert_string_equal(value(&e, "MIB"), "80");
	assert_string_equal(value(&e, "WORK_DIR"), "/run/limpet/rig/c2/mnt/c2");
	assert_string_equal(value(&e, "LIST"), "/run/limpet/rig/c2/pieces");
	assert_string_equal(
		value(&e, "BRICKS"), "/run/limpet/rig/s1/brick /run/limpet/rig/s2/brick");
	workload_env_release(&e);
}

static void large_files_fit_the_disks(void **state)
{
	struct lab_config c = {.n_servers = 6, .n_clients = 6, .disk_bytes = 1 << 30};
	(void)state;
	assert_int_equal(workload_mib(&c), 240);
	c.disk_bytes = 100 << 20; /* half of it: 12 pieces, 2 for each client */
	assert_int_equal(workload_mib(&c), 2 * 6 * 4);
	c.disk_bytes = 1 << 20;
	assert_int_equal(workload_mib(&c), 6 * 4);
	c = (struct lab_config){.n_servers = 20, .n_clients = 1, .disk_bytes = 1 << 30};
	assert_int_equal(workload_mib(&c), 240);
}

static void bytes_are_those_of_eth0(void **state)
{
	static const char text[] = "Inter-|   Receive  |  Transmit\n"
				   "    lo: 10 1 0 0 0 0 0 0 20 1 0 0 0 0 0 0\n"
				   "  eth0: 1000000000000 5 0 0 0 0 0 0 234 3 0 0 0 0 0 0\n";
	uint64_t bytes = 1;
	(void)state;
	assert_int_equal(workload_parse_bytes(text, &bytes), 0);
	assert_true(bytes == 1000000000234);
	assert_int_equal(workload_parse_bytes("  lo: 1 2\n", &bytes), -EBADMSG);
	assert_int_equal(workload_parse_bytes("  eth0: 1 2\n", &bytes), -EBADMSG);
}

static void missing_programs_are_named(void **state)
{
	struct workload w = {.name = "w", .needs = "sh nonesuch|sh awk"};
	struct lp_err err = {0};
	(void)state;
	assert_int_equal(workload_check(&w, &err), 0);
	w.needs = "sh nonesuch|neither";
	assert_int_equal(workload_check(&w, &err), -ENOENT);
	assert_non_null(strstr(err.text, "nonesuch|neither"));
}

/* Run shell text behind the library in a directory of its own; what it printed. */
static char *shell(const char *setup, const char *script)
{
	char dir[] = "/tmp/limpet-workload-XXXXXX", path[64], *command = NULL, *text = NULL;
	size_t size = 0;
	FILE *f;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/script", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "set -e\nTOP=%s LIST=%s/list CLIENT=1 PASS=1 SEED=3\n%s\n%s\n%s", dir, dir,
		workload_library, setup, script);
	fclose(f);
	assert_true(asprintf(&command, "mkdir %s/c1 && cd %s/c1 && sh %s >%s/out 2>&1", dir, dir,
			    path, dir) > 0);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): the test's own text */
	free(command);
	snprintf(path, sizeof(path), "%s/out", dir);
	assert_int_equal(file_slurp(path, 1 << 20, &text, &size, NULL), 0);
	assert_true(asprintf(&command, "rm -r %s", dir) > 0);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c) */
	free(command);
	return text;
}

/* Servers that get files by something like a hash: brick B has those whose number modulo 7 is below
 * or above 5. */
static const char bricks[] = "SERVERS=2 MIB=24 BRICKS=\"$TOP/a $TOP/b\"\n"
			     "mkdir -p $TOP/a/c1 $TOP/b/c1\n"
			     "for i in $(seq 100); do\n"
			     "	if [ $((i % 7)) -lt 5 ]; then : >$TOP/a/c1/piece.$i; else : "
			     ">$TOP/b/c1/piece.$i; fi\n"
			     "done\n";

static void every_server_gets_as_many_pieces(void **state)
{
	char *text = shell(bricks, "pieces\ncat $LIST\nls\n");
	(void)state;
	assert_string_equal(text,
		"1 piece.1\n1 piece.5\n2 piece.2\n2 piece.6\n3 piece.12\n"
		"3 piece.3\n"
		"piece.1\npiece.12\npiece.2\npiece.3\npiece.5\npiece.6\n");
	free(text);
}

static void without_bricks_any_pieces_will_do(void **state)
{
	char *text = shell("SERVERS=3 MIB=24 BRICKS=\n", "pieces\npieces\ncat $LIST\n");
	(void)state;
	assert_string_equal(text,
		"1 piece.1\n1 piece.2\n1 piece.3\n2 piece.4\n2 piece.5\n"
		"2 piece.6\n");
	free(text);
}

static void passes_differ_and_have_whole_rounds(void **state)
{
	static const char list[] =
		"for r in 1 2 3 4 5 6 7 8; do for s in a b c; do echo $r $r$s; done; done >$LIST\n";
	char *text = shell(list,
		"order | sort | md5sum\ncut -d' ' -f2 $LIST | sort | md5sum\n"
		"order 2 | cut -c1 | uniq -c | tr -s ' ' | cut -d' ' -f2\n"
		"order >$TOP/one; PASS=2; order >$TOP/two\n"
		"cmp -s $TOP/one $TOP/two || echo differ\n");
	char first[64], second[64];
	(void)state;
	assert_int_equal(sscanf(text, "%60s - %60s", first, second), 2);
	assert_string_equal(first, second);
	assert_non_null(strstr(text, "-\n3\n3\ndiffer\n"));
	free(text);
}

static void assert_prints(const struct workload *w, const char *what, const char *expected)
{
	static const char setup[] = "WORK_DIR=$TOP/c1/work PASS=0\n"
				    "trap 'echo ended; exit 0' EXIT\n";
	char *script = workload_script(w, what), *text;
	assert_non_null(script);
	text = shell(setup, script);
	assert_string_equal(text, expected);
	free(text);
	free(script);
}

/* In its directory, which is made; a command that fails ends it at once. */
static void a_script_prepares_once_and_passes_again(void **state)
{
	static const struct workload w = {.name = "w",
		.script =
			"prepare() { echo prepared in ${PWD##*/}; }\n"
			"pass() { echo pass $PASS in ${PWD##*/}; [ $PASS -lt 3 ]; echo more; }\n"};
	static const struct workload bare = {.name = "bare", .script = "pass() { false; }\n"};
	(void)state;
	assert_prints(&w, "work_prepare", "prepared in work\nended\n");
	assert_prints(&w, "work_passes",
		"pass 1 in work\nmore\npass 2 in work\nmore\npass 3 in work\nended\n");
	assert_prints(&bare, "work_prepare", "ended\n");
	assert_prints(&bare, "work_passes", "ended\n");
}

/* What the files in workloads/ say of themselves is in the table. */
static void every_workload_is_in_the_table(void **state)
{
	(void)state;
	for (const struct workload *const *w = workloads; *w; w++) {
		assert_ptr_equal(workload_find((*w)->name), *w);
		assert_true(*(*w)->summary && *(*w)->needs);
		assert_non_null(strstr((*w)->script, "\npass() {\n\t"));
	}
	assert_string_equal(workload_find("iozoner")->needs, "iozone|fio dd awk sort");
	assert_null(workload_find("library"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_script_is_told_where_it_is),
		cmocka_unit_test(large_files_fit_the_disks),
		cmocka_unit_test(bytes_are_those_of_eth0),
		cmocka_unit_test(missing_programs_are_named),
		cmocka_unit_test(every_server_gets_as_many_pieces),
		cmocka_unit_test(without_bricks_any_pieces_will_do),
		cmocka_unit_test(passes_differ_and_have_whole_rounds),
		cmocka_unit_test(a_script_prepares_once_and_passes_again),
		cmocka_unit_test(every_workload_is_in_the_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
