/* The form of the file of thresholds: what its reader and its writer must agree on. */
#ifndef DETECT_TRAIN_THRESHOLDS_FORM_H
#define DETECT_TRAIN_THRESHOLDS_FORM_H

#define THRESHOLDS_VERSION 3 /* the highest that is read; weights of functions came with it */
#define THRESHOLDS_VERSION_NORMAL 2 /* failures that are normal, and what is worse, with this */
#define THRESHOLDS_VERSION_PLAIN 1  /* neither */

#define THRESHOLDS_PARAM_MAX 1000000 /* of a parameter that counts samples or windows */
#define THRESHOLDS_LINE_MAX 16384    /* more than two names with every byte escaped */

#endif
