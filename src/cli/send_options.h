/* Options of commands that record and send data to a collector. */
#ifndef CLI_SEND_OPTIONS_H
#define CLI_SEND_OPTIONS_H

#include "base/time.h"
#include "collect/spool.h"
#include "serve/send.h"

struct send_options {
	const char *url, *token, *ca, *cert, *key;
};

#define SEND_FLUSH_US US_PER_SEC

/* Rows for a table of options; `at` is the offset of the struct send_options. */
#define SEND_OPTIONS(at)                                                                           \
	{"send", 0, OPTION_STRING, (at) + offsetof(struct send_options, url), "URL",               \
		"send new data to the collector ('limpet serve') at https://HOST:9700, and "       \
		"older data that it lacks; http:// only on this machine [send nothing]"},          \
		{"token", 0, OPTION_STRING, (at) + offsetof(struct send_options, token), "FILE",   \
			"file with this server's token, which 'limpet serve enroll' printed "      \
			"[" SEND_TOKEN_FILE ", if it exists]"},                                    \
		{"send-ca", 0, OPTION_STRING, (at) + offsetof(struct send_options, ca), "FILE",    \
			"the authority that signed the collector's certificate (PEM) [the "        \
			"system's]"},                                                              \
		{"send-cert", 0, OPTION_STRING, (at) + offsetof(struct send_options, cert),        \
			"FILE", "a certificate to use instead of a token (PEM) [none]"},           \
	{                                                                                          \
		"send-key", 0, OPTION_STRING, (at) + offsetof(struct send_options, key), "FILE",   \
			"the key of that certificate (PEM)"                                        \
	}

/* If requested, start to send the files that a spool with this configuration will write, and set
 * its callback; otherwise `*ret` is NULL. Files that began before `since_us` are not sent. */
int send_options_begin(const struct send_options *opt, struct spool_config *spool,
	const char *observer, int64_t since_us, struct lp_warn *warn, struct sender **ret,
	struct lp_err *err);

/* Send the rest, and print on standard error what is still missing. Accepts NULL. */
void send_options_end(struct sender *s, const struct send_options *opt, bool quiet);

#endif
