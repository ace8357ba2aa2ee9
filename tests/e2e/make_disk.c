/* A server's disk by itself, without the rest of a lab: make_disk up|down DIR. Prints the loop
 * device. $LIMPET is the program that serves it. */
#include "lab/disk.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fail(const struct lp_err *err)
{
	fprintf(stderr, "make_disk: %s\n", err->text);
	return 1;
}

int main(int argc, char **argv)
{
	const char *limpet = getenv("LIMPET");
	struct lab lab = {
		.config = {.name = "trial",
			.disk_bytes = 64 << 20,
			.hog_bytes = 16 << 20,
			.bandwidth_bytes = 30000000,
			.seek_min_us = 2000,
			.seek_max_us = 6000},
		.n_nodes = 1,
		.nodes = {{.role = LAB_SERVER, .name = "s1"}},
	};
	struct lp_err err = {0};

	if (argc > 2 && !strcmp(argv[1], "lab") && limpet) { /* started again as "the program" */
		execv(limpet, argv);
		return 127;
	}
	if (argc != 3)
		return 2;
	snprintf(lab.dir, sizeof(lab.dir), "%s", argv[2]);
	if (!strcmp(argv[1], "down"))
		return disk_down(&lab, &lab.nodes[0], &err) < 0 ? fail(&err) : 0;
	if (disk_up(&lab, &lab.nodes[0], &err) < 0)
		return fail(&err);
	printf("%s\n", lab.nodes[0].loop);
	return 0;
}
