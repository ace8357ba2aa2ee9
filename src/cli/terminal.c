#include "cli/terminal.h"

#include "base/meant.h"
#include <errno.h>
#include <langinfo.h>
#include <limpet/err.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int when_unknown(const char *when, struct lp_err *err)
{
	static const char *const words[] = {"auto", "always", "never", NULL};
	struct meant m;

	return lp_err_set(err, -EINVAL,
		"--color: '%.32s' is none of 'auto', 'always' and 'never'%s", when,
		meant_among(&m, when, words));
}

int terminal_colour(const char *when, bool *ret, struct lp_err *err)
{
	const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

	if (!when || !strcmp(when, "auto"))
		*ret = isatty(STDOUT_FILENO) && !(none && *none) &&
			!(term && !strcmp(term, "dumb"));
	else if (!strcmp(when, "always"))
		*ret = true;
	else if (!strcmp(when, "never"))
		*ret = false;
	else
		return when_unknown(when, err);
	return 0;
}

unsigned terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	long n = columns ? strtol(columns, NULL, 10) : 0;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	return n > 0 && n < 10000 ? (unsigned)n : 0;
}

bool terminal_utf8(void)
{
	/* Determined without setlocale(), because nothing else depends on the locale. */
	locale_t l = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool utf8;

	if (!l)
		return false;
	utf8 = !strcmp(nl_langinfo_l(CODESET, l), "UTF-8");
	freelocale(l);
	return utf8;
}
