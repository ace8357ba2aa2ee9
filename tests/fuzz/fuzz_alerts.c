/* The file with the targets of alerts. */
#include "fuzz.h"
#include "serve/alerts_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct alerts_config c = {0};
	struct lp_err err = {0};

	alerts_config_parse((const char *)data, size, "fuzz", &c, &err);
	alerts_config_release(&c);
	return 0;
}
