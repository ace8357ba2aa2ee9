/* The addresses by which others know this host. */
#ifndef COLLECT_ADDRESSES_H
#define COLLECT_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* Write an address as the names of connections have it. False: not one by which others know a host
 * (of another family, of the loopback interface, or good on one link only). */
bool address_tell(const struct sockaddr *a, char *buf, size_t size);

/* Those of this host's (this network namespace's) interfaces, with commas between, as many as there
 * is room for; "" if there are none. */
void addresses_own(char *buf, size_t size);

#endif
