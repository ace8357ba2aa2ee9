#include "serve/credential.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What a unit gives where the administrator has put nothing: systemd wants some text. */
#define NONE "none"

bool credential_find(const char *name, char *buf, size_t size)
{
	const char *dir = getenv("CREDENTIALS_DIRECTORY");
	struct stat st;

	return dir && snprintf(buf, size, "%s/%s", dir, name) < (int)size && stat(buf, &st) == 0 &&
		st.st_size > (off_t)strlen(NONE) + 1;
}
