/* The common part of commands that record: the observer's name, ports, and machine. */
#ifndef CLI_OBSERVER_H
#define CLI_OBSERVER_H

#include "base/words.h"

#define OBSERVER_NAME_MAX 256
#define OBSERVER_META_MAX 2048

/* The name of this server in component and file names: `given`, or, if that is NULL, the name of
 * the host up to its first dot. -EINVAL: it is not valid. */
int observer_name(const char *given, char buf[OBSERVER_NAME_MAX], struct lp_err *err);

/* Numbers of ports from words (--ports). `ret` has room for all of them. */
int observer_ports(const struct words *words, uint16_t *ret, struct lp_err *err);

/* Lines for an archive's meta: host name, kernel, machine; `addresses`: also the addresses by which
 * other hosts know this one, and the id of its loopback interface. */
void observer_meta(bool addresses, char buf[OBSERVER_META_MAX]);

#endif
