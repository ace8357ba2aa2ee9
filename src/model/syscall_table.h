/* The tables behind model/syscalls.h. */
#ifndef MODEL_SYSCALL_TABLE_H
#define MODEL_SYSCALL_TABLE_H

#include "model/syscalls.h"

/* By number; entries without a name are holes. */
extern const struct syscall_info syscall_table[SYSCALL_MAX];

/* The entry of a number in the 32-bit table of this machine. */
struct syscall_compat {
	uint16_t native; /* 1 + the number of the same call in syscall_table; 0: none */
	const struct syscall_info *own; /* for calls that 64-bit programs do not have */
};

extern const struct syscall_compat syscall_compat_table[SYSCALL_MAX];

#endif
