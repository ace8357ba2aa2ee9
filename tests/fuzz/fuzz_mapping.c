/* YAML files for remote sources: tables of metrics and, if the input begins with '!',
 * configurations of HTTP.
 */
#include "fuzz.h"
#include "import/remote/http_config.h"
#include "import/remote/mapping.h"

static const char *label(const void *series, const char *name)
{
	(void)series;
	return name[0] == 'x' ? NULL : "value";
}

static void mapping_use(const struct mapping *m)
{
	struct strbuf to = {0};

	for (size_t i = 0; i < m->n_groups; i++) {
		mapping_expand(m->groups[i].name, label, NULL, &to);
		mapping_matches(&m->groups[i].where, label, NULL);
	}
	strbuf_release(&to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http_config config = {0};
	struct mapping mapping = {0};
	struct lp_err err = {0};

	if (size && data[0] == '!') {
		http_config_parse(&config, (const char *)data + 1, size - 1, "fuzz", &err);
		http_config_release(&config);
		return 0;
	}
	if (mapping_parse(&mapping, (const char *)data, size, "fuzz", &err) == 0)
		mapping_use(&mapping);
	mapping_release(&mapping);
	return 0;
}
