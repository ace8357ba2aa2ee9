/* A topology file and queries about it; after a first line "table", a table. */
#include "fuzz.h"
#include "model/topology.h"
#include "model/topology_table.h"
#include <stdlib.h>
#include <string.h>

static const char *const texts[] = {
	"fs1/disk:6.00", "fs16/disk:21.71", "oss3/disk:sdb", "a/net:eth0", "plain"};

#define N_COMPONENTS (sizeof(texts) / sizeof(texts[0]))

static struct lp_identity *components[N_COMPONENTS];

static void ask(const struct topology *t)
{
	struct lp_peer_group *groups;
	const char *name;
	uint32_t n;
	char buf[32];

	for (size_t i = 0; (name = topology_attribute_name(t, i)); i++) {
		for (size_t c = 0; c < N_COMPONENTS; c++)
			topology_attribute(t, components[c], name, buf, sizeof(buf));
	}
	topology_issuer(t);
	if (topology_groups(t, components, N_COMPONENTS, topology_parts(t), 1, NULL, &groups, &n,
		    NULL) == 0)
		lp_peer_groups_free(groups, n);
}

static void try_table(const char *text, size_t len)
{
	struct topology_table *table = NULL;
	struct pattern p = {0};
	struct pattern_match m;

	if (pattern_compile("fs{server}/disk:{array}.{lun}", &p, NULL) == 0 &&
		topology_table_parse(text, len, "fuzz", &p, &table, NULL) == 0 &&
		pattern_matches(&p, components[0]->text, strlen(components[0]->text), &m))
		topology_table_get(table, table->attributes[0], components[0], &m);
	topology_table_free(table);
	pattern_release(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char mark[] = "table\n";
	size_t skip = strlen(mark);
	struct topology *t = NULL;

	for (size_t i = 0; !components[N_COMPONENTS - 1] && i < N_COMPONENTS; i++)
		components[i] = lp_identity_parse(texts[i]);
	if (size >= skip && !memcmp(data, mark, skip)) {
		try_table((const char *)data + skip, size - skip);
		return 0;
	}
	if (topology_parse((const char *)data, size, "fuzz", &t, NULL) == 0)
		ask(t);
	topology_free(t);
	return 0;
}
