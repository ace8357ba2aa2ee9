/* A configuration of `limpet stack run`. */
#include "fuzz.h"
#include "trace/stack/stack_config.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stack_config c = {0};
	struct lp_err err = {0};
	int r = stack_config_parse((const char *)data, size, "stack.yaml", &c, &err);

	if (r == 0 ? !c.layers : !err.text[0])
		abort();
	stack_config_release(&c);
	return 0;
}
