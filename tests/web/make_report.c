/* make_report DIR: write the verdict of verdict_rig.h in all forms, for the browser test:
 * sick.html, well.html, sick.txt, sick.json, hourly.txt. */
#include "report/verdict_hourly.h"
#include "report/verdict_html.h"
#include "report/verdict_json.h"
#include "report/verdict_text.h"
#include "verdict_rig.h"
#include <errno.h>

static FILE *create(const char *dir, const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (!f) {
		perror(path);
		exit(3);
	}
	return f;
}

/* Close it; anything that went wrong ends the program. */
static void finish(FILE *f, int r)
{
	if (fclose(f) != 0 || r < 0) {
		fprintf(stderr, "make_report: %s\n", strerror(r < 0 ? -r : EIO));
		exit(3);
	}
}

int main(int argc, char **argv)
{
	struct lp_verdict *sick = rig_verdict(), *well = rig_healthy();
	FILE *f;

	if (argc != 2) {
		fprintf(stderr, "usage: make_report DIR\n");
		return 2;
	}
	f = create(argv[1], "sick.html");
	finish(f, verdict_write_html(f, sick, NULL));
	f = create(argv[1], "well.html");
	finish(f, verdict_write_html(f, well, NULL));
	f = create(argv[1], "sick.txt");
	finish(f, verdict_print_text(f, sick, NULL));
	f = create(argv[1], "sick.json");
	finish(f, verdict_print_json(f, sick));
	f = create(argv[1], "hourly.txt");
	finish(f, verdict_print_hourly(f, sick, 0));
	lp_verdict_free(sick);
	lp_verdict_free(well);
	return 0;
}
