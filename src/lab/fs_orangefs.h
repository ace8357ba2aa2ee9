/* The configuration file of a lab's OrangeFS. */
#ifndef LAB_FS_ORANGEFS_H
#define LAB_FS_ORANGEFS_H

#include "base/strbuf.h"
#include "lab/lab.h"

/* Append the file that all servers share, and clients get from them. */
void orangefs_config(const struct lab *lab, struct strbuf *out);

#endif
