/* The description of a lab (lab.json), from arbitrary text. */
#include "base/cleanup.h"
#include "fuzz.h"
#include "lab/lab_state.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = malloc(size + 1);
	struct lp_err err = {0};
	struct lab lab;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (lab_state_parse(text, &lab, &err) < 0) {
		if (!*err.text)
			abort();
		return 0;
	}
	/* The values that follow from it are complete, and no path leads out of the lab's
	 * directory. */
	if (lab.n_nodes != lab.config.n_servers + lab.config.n_clients + 1 ||
		lab.n_nodes > LAB_NODES_MAX || strpbrk(lab.config.name, "/.") ||
		!lab_server(&lab, 0) || lab_server(&lab, lab.config.n_servers))
		abort();
	return 0;
}
