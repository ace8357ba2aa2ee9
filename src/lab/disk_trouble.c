#include "lab/disk_trouble.h"

#include "lab/disk_control.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define LINE_SIZE 64
#define REPLY_SIZE 256

static int ask(const struct lab *lab, const struct lab_node *on, const char *line,
	char reply[REPLY_SIZE], struct lp_err *err)
{
	char path[LAB_PATH_MAX];

	return disk_control(
		lab_path(lab, path, "%s/disk.ctl", on->name), line, reply, REPLY_SIZE, err);
}

int disk_trouble_say(
	const struct lab *lab, const struct lab_node *on, struct lp_err *err, const char *fmt, ...)
{
	char line[LINE_SIZE], reply[REPLY_SIZE];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	return ask(lab, on, line, reply, err);
}

int disk_trouble_parse(const char *text, struct disk_shown *ret, struct lp_err *err)
{
	struct disk_shown s;

	if (sscanf(text, "slow %lf busy %lf stall %" SCNu64 " %" SCNu64, &s.slow, &s.busy_percent,
		    &s.stall_every_ms, &s.stall_for_ms) != 4)
		return lp_err_set(err, -EBADMSG, "the disk does not tell how it is: '%.64s'", text);
	*ret = s;
	return 0;
}

int disk_trouble_show(const struct lab *lab, const struct lab_node *on, struct disk_shown *ret,
	struct lp_err *err)
{
	char reply[REPLY_SIZE];
	int r = ask(lab, on, "show", reply, err);

	return r < 0 ? r : disk_trouble_parse(reply, ret, err);
}

int disk_trouble_undo(
	const struct lab *lab, const struct lab_node *on, const char *line, struct lp_err *err)
{
	struct lp_err here = {0};
	char reply[REPLY_SIZE];
	int r = ask(lab, on, line, reply, &here);

	if (r >= 0 || r == -ENOENT || r == -ECONNREFUSED)
		return 0;
	return lp_err_set(err, r, "%s", here.text);
}
