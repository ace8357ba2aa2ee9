/* The operations of FUSE by their numbers (linux/fuse.h). */
#ifndef TRACE_FUSE_NAMES_H
#define TRACE_FUSE_NAMES_H

#include <stdint.h>

/* "WRITE"; "" if it is not known. */
const char *fuse_name(unsigned opcode);

/* enum span_op */
uint8_t fuse_op(unsigned opcode);

#endif
