/* Removing a lab. */
#ifndef LAB_DOWN_H
#define LAB_DOWN_H

#include "lab/lab.h"

/* Like lab_down(), by who holds the lock already. */
int down_locked(const char *name, struct lp_err *err);

#endif
