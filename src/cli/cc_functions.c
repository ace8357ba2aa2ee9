#include "cli/cc_functions.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "trace/calls/function_list.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXCLUDE "-finstrument-functions-exclude-function-list="
/* The kernel accepts arguments up to 128 KiB; further functions are switched off at run time. */
#define EXCLUDE_MAX 100000
/* gcc excludes every function with a name that contains one of the list, so a short name would
 * exclude many others. */
#define NAME_MIN 6
#define NAME_MAX_BYTES 512

void cc_functions_release(struct cc_functions *f)
{
	free(f->exclude);
	free(f->define);
	*f = (struct cc_functions){0};
}

/* gcc uses names without parameters. False: switch this one off at run time. */
static bool name_for_gcc(const char *name, char *ret, size_t size)
{
	const char *function = function_of_name(name);
	size_t len = strcspn(function, "(");

	if (len < NAME_MIN || len >= size || strcspn(function, "<") < len ||
		strstr(function, "operator"))
		return false;
	memcpy(ret, function, len);
	ret[len] = '\0';
	return true;
}

/* Would this also exclude another function that is to be counted? */
static bool is_part_of_others(const struct calls_list *l, const char *function)
{
	for (uint32_t i = 0; i < l->n; i++) {
		if (l->lines[i].on &&
			(l->lines[i].pattern ||
				strstr(function_of_name(l->lines[i].name), function)))
			return true;
	}
	return false;
}

static int exclude_make(const struct calls_list *l, char **ret)
{
	struct strbuf text = {0};
	char *made, name[NAME_MAX_BYTES];

	strbuf_puts(&text, EXCLUDE);
	for (uint32_t i = 0; i < l->n; i++) {
		if (l->lines[i].on || l->lines[i].pattern ||
			!name_for_gcc(l->lines[i].name, name, sizeof(name)) ||
			text.len + strlen(name) > EXCLUDE_MAX || is_part_of_others(l, name))
			continue;
		if (text.len > strlen(EXCLUDE))
			strbuf_putc(&text, ',');
		strbuf_puts(&text, name);
	}
	made = strbuf_take(&text);
	if (!made)
		return -ENOMEM;
	if (!made[strlen(EXCLUDE)]) {
		free(made);
		made = NULL;
	}
	*ret = made;
	return 0;
}

/* The path of the list, as a string for the assembler. */
static int define_make(const char *path, char **ret, struct lp_err *err)
{
	_cleanup_free_ char *whole = realpath(path, NULL);

	if (!whole)
		return lp_err_sys(err, -errno, "cannot read %s", path);
	if (strpbrk(whole, "\"\\\n"))
		return lp_err_set(err, -EINVAL,
			"the path of a list of functions must not have quotes or backslashes: %s",
			whole);
	if (asprintf(ret, "-DLIMPET_CALLS_LIST=\"%s\"", whole) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", path);
	return 0;
}

int cc_functions_read(const char *path, struct cc_functions *ret, struct lp_err *err)
{
	struct cc_functions f = {0};
	_cleanup_(calls_list_release) struct calls_list list = {0};
	int r = function_list_read(path, &list, err);

	if (r == 0)
		r = define_make(path, &f.define, err);
	if (r < 0)
		return r;
	if (exclude_make(&list, &f.exclude) < 0) {
		cc_functions_release(&f);
		return lp_err_sys(err, -ENOMEM, "cannot read %s", path);
	}
	*ret = f;
	return 0;
}
