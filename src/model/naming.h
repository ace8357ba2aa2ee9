/* The names of components for operators: "oss5: disk sdb" for oss5/disk:sdb.
 *
 * limpet's own names identify components in files and on command lines. Sentences use these names
 * instead.
 */
#ifndef MODEL_NAMING_H
#define MODEL_NAMING_H

#include "base/strbuf.h"
#include <limpet/identity.h>

/* The component without its server: "disk sdb", "interface eth0", "TCP from clients". Empty for a
 * host, which is the server itself. */
void naming_add_thing(struct strbuf *sb, const struct lp_identity *component);

/* The server and the component: "oss5: disk sdb"; "oss5" for a host. */
void naming_add(struct strbuf *sb, const struct lp_identity *component);

/* A part of the system as it is named in an incident: "oss5" for "observer:oss5", "controller
 * ddn12a" for "controller:ddn12a". */
void naming_add_part(struct strbuf *sb, const char *part);

/* Names that stay the same when the kernel renumbers its devices: "mpatha, serial ZC1A,
 * wwn-0x5000c5". Returns false, and adds nothing, if there are none. */
bool naming_add_stable(struct strbuf *sb, const struct lp_identity *component);

/* Add a word of a shell command, in single quotes if necessary. */
void naming_add_quoted(struct strbuf *sb, const char *word);

#endif
