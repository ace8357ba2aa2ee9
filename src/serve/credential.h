/* Secrets that systemd passes to a service (LoadCredential=), and tokens in files. */
#ifndef SERVE_CREDENTIAL_H
#define SERVE_CREDENTIAL_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stddef.h>

/* The path of the credential `name` in $CREDENTIALS_DIRECTORY; false: there is none, it is empty,
 * or it is "none", which a unit passes if the administrator provided no credential. */
bool credential_find(const char *name, char *buf, size_t size);

/* Read the first word of the file `path`; release it with credential_erase(). */
int credential_read(const char *path, char **ret, struct lp_err *err);

/* Overwrite a secret and free it; `*secret` may be NULL. For `_cleanup_`. */
void credential_erase(char **secret);

#endif
