/* Secrets that systemd hands to a service (LoadCredential=). */
#ifndef SERVE_CREDENTIAL_H
#define SERVE_CREDENTIAL_H

#include <stdbool.h>
#include <stddef.h>

/* The path of the credential `name` in $CREDENTIALS_DIRECTORY; false: there is none, or it
 * is "none", which is what a unit gives where the administrator has put nothing. */
bool credential_find(const char *name, char *buf, size_t size);

#endif
