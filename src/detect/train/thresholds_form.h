/* The format of the file of thresholds, for its reader and its writer. */
#ifndef DETECT_TRAIN_THRESHOLDS_FORM_H
#define DETECT_TRAIN_THRESHOLDS_FORM_H

#define THRESHOLDS_VERSION 3	    /* the newest version; it added weights of functions */
#define THRESHOLDS_VERSION_NORMAL 2 /* the version that added normal failures and "worse" */
#define THRESHOLDS_VERSION_PLAIN 1  /* neither */

#define THRESHOLDS_PARAM_MAX 1000000 /* of a parameter that counts samples or windows */
#define THRESHOLDS_LINE_MAX 16384    /* more than two names with every byte escaped */

#endif
