/* The two ends of a network hog: one sends zeros, one discards them. Both run until they are
 * killed, with large buffers, so that they need little CPU. */
#ifndef LAB_TRAFFIC_H
#define LAB_TRAFFIC_H

#include <limpet/err.h>
#include <stdint.h>

#define TRAFFIC_CONNECTIONS_MAX 64

/* Accept connections on `port` (0: any; reported to `ready` if that is not NULL) and read. Ends
 * only with an error, or when `*stop` is set. */
struct traffic {
	const char *address; /* to send to, "10.91.1.1"; NULL: listen */
	uint16_t port;
	unsigned connections; /* of a sender */
	const volatile int *stop;
	void (*ready)(void *ctx, uint16_t port);
	void *ctx;
};

int traffic_listen(const struct traffic *t, struct lp_err *err);

/* Connect and send; connect again after a failure. */
int traffic_send(const struct traffic *t, struct lp_err *err);

/* Split "10.91.1.1:17000"; the address goes into `address` (16 bytes). */
int traffic_target_parse(
	const char *text, char address[16], uint16_t *ret_port, struct lp_err *err);

#endif
