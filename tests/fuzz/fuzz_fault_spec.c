/* A fault as a user writes it: accepted ones are in range and read back the same. */
#include "fuzz.h"
#include "lab/fault.h"
#include <stdlib.h>
#include <string.h>

static void check(const struct fault_spec *s)
{
	char text[FAULT_TEXT_MAX];
	struct fault_spec again;

	if (s->fault->strength &&
		!(s->strength >= s->fault->strength_min && s->strength <= s->fault->strength_max))
		abort();
	if (fault_parse(fault_format(s, text), &again, NULL) < 0 || again.fault != s->fault ||
		strcmp(again.on, s->on) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct fault_spec s;
	struct lp_err err = {0};

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (fault_parse(text, &s, &err) == 0)
		check(&s);
	else if (!*err.text)
		abort();
	free(text);
	return 0;
}
