#include "serve/credential.h"

#include "base/cleanup.h"
#include "base/file.h"
#include <ctype.h>
#include <fcntl.h>
#include <string.h>

#define SECRET_MAX 4096

/* The text that a unit passes if the administrator provided none: systemd requires some text. */
#define NONE "none"

/* Does the file contain anything but NONE? Checks only the first bytes. */
static bool says_something(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[64];
	ssize_t n = fd < 0 ? -1 : file_pread_full(fd, text, sizeof(text), 0);
	size_t len;
	bool none;

	if (n <= 0)
		return false;
	for (len = (size_t)n; len && isspace((unsigned char)text[len - 1]);)
		len--;
	none = len == strlen(NONE) && !memcmp(text, NONE, len);
	explicit_bzero(text, sizeof(text));
	return len && !none;
}

bool credential_find(const char *name, char *buf, size_t size)
{
	const char *dir = getenv("CREDENTIALS_DIRECTORY");

	return dir && snprintf(buf, size, "%s/%s", dir, name) < (int)size && says_something(buf);
}

/* not fuzzed: the word is sent unchanged */
int credential_read(const char *path, char **ret, struct lp_err *err)
{
	size_t size;
	int r = file_slurp(path, SECRET_MAX, ret, &size, err);

	if (r == 0)
		(*ret)[strcspn(*ret, "\r\n \t")] = '\0';
	return r;
}

void credential_erase(char **secret)
{
	if (*secret)
		explicit_bzero(*secret, strlen(*secret));
	free(*secret);
	*secret = NULL;
}
