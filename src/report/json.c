#include "report/json.h"

#include "base/cleanup.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

void json_write_string(FILE *out, const char *text)
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
	json_dumpf(string, out, JSON_ENCODE_ANY);
	json_decref(string);
}
