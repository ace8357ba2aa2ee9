#include "serve/credential.h"

#include "base/file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SECRET_MAX 4096

/* The text that a unit passes if the administrator provided nothing: systemd requires some text. */
#define NONE "none"

bool credential_find(const char *name, char *buf, size_t size)
{
	const char *dir = getenv("CREDENTIALS_DIRECTORY");
	struct stat st;

	return dir && snprintf(buf, size, "%s/%s", dir, name) < (int)size && stat(buf, &st) == 0 &&
		st.st_size > (off_t)strlen(NONE) + 1;
}

/* not fuzzed: the word is sent as it is */
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
