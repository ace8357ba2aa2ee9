/* Addresses to listen on. */
#ifndef SERVE_HTTP_LISTEN_H
#define SERVE_HTTP_LISTEN_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stddef.h>

struct sockaddr;

/* Listen on "ADDRESS:PORT", "[ADDRESS]:PORT" or "PORT" (loopback): a descriptor or a negative
 * errno. `*ret_loopback`: it cannot be reached from outside of this machine. The address, with the
 * port that was chosen if it is 0, goes to `text`. */
int http_listen(const char *where, char *text, size_t size, bool *ret_loopback, struct lp_err *err);

/* Is this address on the loopback interface? */
bool sockaddr_is_loopback(const struct sockaddr *address);

/* Does a "Host:" certainly mean this machine: an address in digits or "localhost"? A name could be
 * one that an attacker's name server resolves to this machine, so that a page of the attacker reads
 * what only this machine may (DNS rebinding). */
bool host_is_local(const char *host);

#endif
