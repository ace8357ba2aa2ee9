#include "lab/disk_trouble.h"

#include "lab/disk_control.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Parse a number after this word (if given); NULL if the text is different. */
static const char *read_number(const char *text, const char *word, double *ret)
{
	size_t len = strlen(word);
	char *end;

	if (!text || strncmp(text, word, len) != 0)
		return NULL;
	*ret = strtod(text + len, &end);
	return end == text + len ? NULL : end;
}

int disk_trouble_parse(const char *text, struct disk_shown *ret, struct lp_err *err)
{
	struct disk_shown s = {0};
	const char *rest = read_number(text, "slow ", &s.slow);

	rest = read_number(rest, " busy ", &s.busy_percent);
	rest = read_number(rest, " stall ", &s.stall_every_ms);
	rest = read_number(rest, " ", &s.stall_for_ms);
	if (!rest)
		return lp_err_set(
			err, -EBADMSG, "the disk does not report its state: '%.64s'", text);
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
