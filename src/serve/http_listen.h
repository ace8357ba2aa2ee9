/* Addresses to listen on. */
#ifndef SERVE_HTTP_LISTEN_H
#define SERVE_HTTP_LISTEN_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stddef.h>

struct sockaddr;

/* Listen on "ADDRESS:PORT", "[ADDRESS]:PORT" or "PORT" (loopback). Returns a descriptor or a
 * negative errno. `*ret_loopback`: only this machine can reach it. `text` gets the address, with
 * the actual port if PORT is 0. */
int http_listen(const char *where, char *text, size_t size, bool *ret_loopback, struct lp_err *err);

/* Is this address on the loopback interface? */
bool sockaddr_is_loopback(const struct sockaddr *address);

/* Does a "Host:" certainly mean this machine: an address in digits or "localhost"? An attacker's
 * name server could resolve another name to this machine, so that the attacker's page could read
 * data that only this machine may read (DNS rebinding). */
bool host_is_local(const char *host);

#endif
