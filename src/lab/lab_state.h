/* lab.json: the description of a lab, so that other commands find it. */
#ifndef LAB_LAB_STATE_H
#define LAB_LAB_STATE_H

#include "lab/lab.h"

/* Write DIR/lab.json; it is replaced atomically. */
int lab_state_save(const struct lab *lab, struct lp_err *err);

/* Fill `ret` from the text of a lab.json. -EINVAL: `err` says why. */
int lab_state_parse(const char *text, struct lab *ret, struct lp_err *err);

#endif
