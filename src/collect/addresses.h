/* The addresses by which other hosts know this host. */
#ifndef COLLECT_ADDRESSES_H
#define COLLECT_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* Write an address in the form that the names of connections use. False: others cannot reach the
 * host by it (another family, the loopback interface, or a link-local address). */
bool address_format(const struct sockaddr *a, char *buf, size_t size);

/* The addresses of the interfaces of this host (of this network namespace), separated by commas, as
 * many as fit; "" if there are none. */
void addresses_own(char *buf, size_t size);

#endif
