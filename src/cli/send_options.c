#include "cli/send_options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

int send_options_begin(const struct send_options *opt, struct spool_config *spool,
	const char *observer, int64_t since_us, struct lp_warn *warn, struct sender **ret,
	struct lp_err *err)
{
	const struct send_config config = {.target = {.url = opt->url,
						   .token_file = opt->token,
						   .ca_file = opt->ca,
						   .cert_file = opt->cert,
						   .key_file = opt->key},
		.dir = spool->dir,
		.name = spool->name,
		.observer = observer,
		.since_us = since_us,
		.warn = warn};
	int r;

	*ret = NULL;
	if (!opt->url && (opt->token || opt->ca || opt->cert || opt->key))
		return lp_err_set(err, -EINVAL, "--token and --send-... are for --send URL");
	if (!opt->url)
		return 0;
	if (spool->path)
		return lp_err_set(err, -EINVAL, "--send needs a directory as --output, not a file");
	r = send_open(&config, ret, err);
	if (r < 0)
		return r;
	/* Data is written every second, so that it can be sent, but not flushed to the disk more
	 * often than without sending. */
	spool->sync_us = 10 * SEND_FLUSH_US;
	spool->written = send_written;
	spool->written_ctx = *ret;
	return 0;
}

void send_options_end(struct sender *s, const struct send_options *opt, bool quiet)
{
	struct send_stats stats = {0};

	if (!s)
		return;
	send_close(s, &stats);
	if (stats.behind)
		fprintf(stderr,
			"not everything has arrived at %s; the rest is sent when limpet records "
			"here with --send again\n",
			opt->url);
	else if (!quiet)
		fprintf(stderr, "sent %" PRIu64 " frames (%" PRIu64 " bytes) to %s\n", stats.frames,
			stats.bytes, opt->url);
}
