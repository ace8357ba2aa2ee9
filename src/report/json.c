#include "report/json.h"

#include "base/cleanup.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Most names are plain, and there may be many. */
static bool is_plain(const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || (unsigned char)*text >= 0x7f || *text == '"' ||
			*text == '\\')
			return false;
	}
	return true;
}

json_t *json_text(const char *text)
{
	json_t *string = json_string(text);

	if (!string) { /* not UTF-8 */
		_cleanup_free_ char *copy = strdup(text);

		for (char *p = copy; p && *p; p++) {
			if ((unsigned char)*p >= 0x80)
				*p = '?';
		}
		string = json_string(copy ? copy : "");
	}
	return string;
}

void json_write_string(FILE *out, const char *text)
{
	json_t *string;

	if (is_plain(text)) {
		fprintf(out, "\"%s\"", text);
		return;
	}
	string = json_text(text);
	json_dumpf(string, out, JSON_ENCODE_ANY);
	json_decref(string);
}
