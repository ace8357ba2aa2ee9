#include "report/json.h"

#include "base/cleanup.h"
#include "base/safe_text.h"
#include "model/identity.h"
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Longer labels are truncated; there are none. */
#define LABEL_MAX 512

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

int json_print(FILE *out, json_t *root)
{
	size_t how = JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(12);
	int r = root ? json_dumpf(root, out, how) : -1;

	json_decref(root);
	if (r < 0)
		return -ENOMEM;
	fputc('\n', out);
	return 0;
}

void json_write_string(FILE *out, const char *text)
{
	json_t *string;

	if (is_plain(text)) {
		fprintf(out, "\"%s\"", text);
		return;
	}
	string = json_text(text);
	/* A terminal may display it, so special characters are escaped. */
	json_dumpf(string, out, JSON_ENCODE_ANY | (safe_text_is(text) ? 0 : JSON_ENSURE_ASCII));
	json_decref(string);
}

void json_write_labels(FILE *out, const char *labels)
{
	struct label l;
	bool any = false;

	fputc('{', out);
	while (label_next(&labels, &l)) {
		char key[LABEL_MAX], value[LABEL_MAX];

		snprintf(key, sizeof(key), "%.*s", (int)l.n_key, l.key);
		snprintf(value, sizeof(value), "%.*s", (int)l.n_value, l.value);
		fputs(any ? "," : "", out);
		json_write_string(out, key);
		fputc(':', out);
		json_write_string(out, value);
		any = true;
	}
	fputc('}', out);
}
