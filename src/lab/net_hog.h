/* Traffic between a server and the third party, as fast as possible. */
#ifndef LAB_NET_HOG_H
#define LAB_NET_HOG_H

#include "lab/hog.h"

/* From the third party to the server, or the other way round, over that many connections. */
int net_hog_start(const struct hog *h, bool to_server, unsigned connections, struct lp_err *err);

/* Both ends run, and bytes move between them. */
int net_hog_verify(const struct hog *h, bool to_server, struct lp_err *err);

#endif
