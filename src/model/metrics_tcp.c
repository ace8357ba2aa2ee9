/* Metrics of TCP connections, per remote address and direction. */
#include "model/metric_def.h"

/* The sum over all sockets divided by their number. Without a socket there is no window. */
static double per_socket(const double *in, double dt_s)
{
	(void)dt_s;
	return in[1] > 0 ? in[0] / in[1] : NAN;
}

static double per_socket_ms(const double *in, double dt_s)
{
	return per_socket(in, dt_s) / 1000;
}

static double per_socket_percent(const double *in, double dt_s)
{
	return 100 * per_socket(in, dt_s);
}

extern const struct lp_metric metrics_tcp[];
const struct lp_metric metrics_tcp[] = {
	{.name = "sockets",
		.unit = "sockets",
		.help = "connections",
		.resource = "network",
		.kind = "tcp",
		.headline = true,
		.inputs = {"sockets"},
		.eval = metric_value},
	{.name = "cwnd",
		.unit = "segments",
		.help = "congestion window, mean over the connections",
		.resource = "network",
		.kind = "tcp",
		.headline = true,
		.inputs = {"cwnd_sum", "sockets"},
		.eval = per_socket,
		.role = LP_ROLE_WINDOW,
		.floor = 1,
		.judged = true},
	{.name = "rtt",
		.unit = "ms",
		.help = "smoothed round-trip time, mean over the connections",
		.resource = "network",
		.kind = "tcp",
		.headline = true,
		.inputs = {"rtt_sum_us", "sockets"},
		.eval = per_socket_ms,
		.role = LP_ROLE_LATENCY,
		.floor = 1,
		.judged = true},
	{.name = "retrans",
		.unit = "1/s",
		.help = "segments retransmitted per second",
		.resource = "network",
		.kind = "tcp",
		.headline = true,
		.inputs = {"retrans"},
		.eval = metric_rate,
		.role = LP_ROLE_TROUBLE,
		.floor = 0.5,
		.judged = true},
	{.name = "tcprx",
		.unit = "bytes/s",
		.help = "bytes received per second",
		.resource = "network",
		.kind = "tcp",
		.inputs = {"bytes_received"},
		.eval = metric_rate,
		.role = LP_ROLE_WORK,
		.floor = 131072},
	{.name = "tcptx",
		.unit = "bytes/s",
		.help = "bytes sent and acknowledged per second",
		.resource = "network",
		.kind = "tcp",
		.inputs = {"bytes_acked"},
		.eval = metric_rate,
		.role = LP_ROLE_WORK,
		.floor = 131072},
	{.name = "unread",
		.unit = "%",
		.help = "connections with received data that was not read yet",
		.resource = "network",
		.kind = "tcp",
		.inputs = {"unread", "sockets"},
		.eval = per_socket_percent,
		.role = LP_ROLE_TROUBLE,
		.floor = 10,
		.judged = true},
	{.name = "recvq",
		.unit = "bytes",
		.help = "data received and not yet read by the application, on all connections",
		.resource = "network",
		.kind = "tcp",
		.inputs = {"rqueue_sum"},
		.eval = metric_value,
		.role = LP_ROLE_BUSY,
		.floor = 65536},
	{.name = "sendq",
		.unit = "bytes",
		.help = "data written and not yet acknowledged, on all connections",
		.resource = "network",
		.kind = "tcp",
		.inputs = {"wqueue_sum"},
		.eval = metric_value,
		.role = LP_ROLE_BUSY,
		.floor = 65536},
	{.name = NULL},
};
