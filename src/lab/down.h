/* Removing a lab. */
#ifndef LAB_DOWN_H
#define LAB_DOWN_H

#include "lab/lab.h"

/* Like lab_down(), for a caller that already holds the lock. */
int down_locked(const char *name, struct lp_err *err);

#endif
