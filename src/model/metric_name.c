#include "model/metric_name.h"

#include "base/array.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Where a text must be for it to count. Words end at characters that are neither letters nor
 * digits, and where a capital follows a small letter. */
enum place {
	ANYWHERE, /* also within a word: no other word has it */
	WORD,	  /* a word of its own */
	BEGIN,	  /* the beginning of a word */
	END,	  /* the end of a word */
	UNIT,	  /* a word of its own after others: `us` alone is the time of a user */
};

/* The first row that holds counts. */
static const struct {
	const char *text;
	enum place place;
	enum lp_role role;
} hints[] = {
	{"latency", ANYWHERE, LP_ROLE_LATENCY},
	{"await", ANYWHERE, LP_ROLE_LATENCY},
	{"svctm", ANYWHERE, LP_ROLE_BUSY},
	{"rtt", BEGIN, LP_ROLE_LATENCY},
	{"rtt", END, LP_ROLE_LATENCY},
	{"error", ANYWHERE, LP_ROLE_TROUBLE},
	{"err", WORD, LP_ROLE_TROUBLE},
	{"errs", WORD, LP_ROLE_TROUBLE},
	{"retrans", ANYWHERE, LP_ROLE_TROUBLE},
	{"drop", ANYWHERE, LP_ROLE_TROUBLE},
	{"fail", ANYWHERE, LP_ROLE_TROUBLE},
	{"retries", WORD, LP_ROLE_TROUBLE},
	{"timeouts", WORD, LP_ROLE_TROUBLE},
	{"cwnd", ANYWHERE, LP_ROLE_WINDOW},
	{"util", ANYWHERE, LP_ROLE_BUSY},
	{"busy", ANYWHERE, LP_ROLE_BUSY},
	{"queue", ANYWHERE, LP_ROLE_BUSY},
	{"iowait", ANYWHERE, LP_ROLE_BUSY},

	/* Amounts that are there, shares, points in time and the time of processors, which are
	 * neither work nor the time that a request takes. */
	{"used", WORD, LP_ROLE_OTHER},
	{"usage", WORD, LP_ROLE_OTHER},
	{"free", WORD, LP_ROLE_OTHER},
	{"avail", BEGIN, LP_ROLE_OTHER},
	{"capacity", WORD, LP_ROLE_OTHER},
	{"size", WORD, LP_ROLE_OTHER},
	{"pct", WORD, LP_ROLE_OTHER},
	{"percent", WORD, LP_ROLE_OTHER},
	{"ratio", WORD, LP_ROLE_OTHER},
	{"age", WORD, LP_ROLE_OTHER},
	{"boot", WORD, LP_ROLE_OTHER},
	{"power", WORD, LP_ROLE_OTHER},
	{"seen", WORD, LP_ROLE_OTHER},
	{"since", WORD, LP_ROLE_OTHER},
	{"start", WORD, LP_ROLE_OTHER},
	{"cpu", WORD, LP_ROLE_OTHER},

	{"through", ANYWHERE, LP_ROLE_WORK},
	{"thrpt", ANYWHERE, LP_ROLE_WORK},
	{"bandwidth", ANYWHERE, LP_ROLE_WORK},
	{"byt", ANYWHERE, LP_ROLE_WORK},
	{"ops", END, LP_ROLE_WORK},
	{"duration", ANYWHERE, LP_ROLE_LATENCY},
	{"delay", ANYWHERE, LP_ROLE_LATENCY},
	{"elapsed", WORD, LP_ROLE_LATENCY},
	{"lat", WORD, LP_ROLE_LATENCY},
	{"rlat", WORD, LP_ROLE_LATENCY},
	{"wlat", WORD, LP_ROLE_LATENCY},
	{"clat", WORD, LP_ROLE_LATENCY}, /* fio's */
	{"slat", WORD, LP_ROLE_LATENCY},
	{"wait", WORD, LP_ROLE_LATENCY},
	{"wait", END, LP_ROLE_LATENCY},
	{"time", WORD, LP_ROLE_LATENCY},
	{"iotime", WORD, LP_ROLE_LATENCY},
	{"resptime", WORD, LP_ROLE_LATENCY},
	{"responsetime", WORD, LP_ROLE_LATENCY},
	{"servicetime", WORD, LP_ROLE_LATENCY},
	{"svctime", WORD, LP_ROLE_LATENCY},
	{"waittime", WORD, LP_ROLE_LATENCY},
	{"ms", UNIT, LP_ROLE_LATENCY},
	{"msec", UNIT, LP_ROLE_LATENCY},
	{"us", UNIT, LP_ROLE_LATENCY},
	{"usec", UNIT, LP_ROLE_LATENCY},
};

static bool is_boundary(const char *name, size_t at)
{
	return at == 0 || !name[at] || !isalnum((unsigned char)name[at]) ||
		!isalnum((unsigned char)name[at - 1]) ||
		(islower((unsigned char)name[at - 1]) && isupper((unsigned char)name[at]));
}

static bool is_at(const char *name, size_t at, size_t len, enum place place)
{
	bool begins = is_boundary(name, at), ends = is_boundary(name, at + len);

	switch (place) {
	case ANYWHERE:
		return true;
	case BEGIN:
		return begins;
	case END:
		return ends;
	case WORD:
		return begins && ends;
	case UNIT:
		return at > 0 && begins && ends;
	}
	return false;
}

static bool name_has(const char *name, const char *text, enum place place)
{
	size_t len = strlen(text);

	for (const char *p = name; (p = strcasestr(p, text)); p++) {
		if (is_at(name, (size_t)(p - name), len, place))
			return true;
	}
	return false;
}

enum lp_role metric_name_role(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(hints); i++) {
		if (name_has(name, hints[i].text, hints[i].place))
			return hints[i].role;
	}
	return LP_ROLE_OTHER;
}
