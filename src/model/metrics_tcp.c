/* Metrics of TCP connections, per remote address and direction. */
#include "model/metric_def.h"

/* The sum over all sockets, for each socket. Without a socket there is no window to speak of. */
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
	{"sockets", "sockets", "connections", "network", "tcp", true, {"sockets"}, metric_value},
	{"cwnd", "segments", "congestion window, mean over the connections", "network", "tcp", true,
		{"cwnd_sum", "sockets"}, per_socket, LP_ROLE_WINDOW, 1, true},
	{"rtt", "ms", "smoothed round-trip time, mean over the connections", "network", "tcp", true,
		{"rtt_sum_us", "sockets"}, per_socket_ms, LP_ROLE_LATENCY, 1, true},
	{"retrans", "1/s", "segments retransmitted per second", "network", "tcp", true, {"retrans"},
		metric_rate, LP_ROLE_TROUBLE, 0.5, true},
	{"tcprx", "bytes/s", "bytes received per second", "network", "tcp", false,
		{"bytes_received"}, metric_rate, LP_ROLE_WORK, 131072, false},
	{"tcptx", "bytes/s", "bytes sent and acknowledged per second", "network", "tcp", false,
		{"bytes_acked"}, metric_rate, LP_ROLE_WORK, 131072, false},
	{"unread", "%", "connections with data that came and was not read yet", "network", "tcp",
		false, {"unread", "sockets"}, per_socket_percent, LP_ROLE_TROUBLE, 10, true},
	{"recvq", "bytes", "received and not yet read by the application, of all connections",
		"network", "tcp", false, {"rqueue_sum"}, metric_value, LP_ROLE_BUSY, 65536, false},
	{"sendq", "bytes", "written and not yet acknowledged, of all connections", "network", "tcp",
		false, {"wqueue_sum"}, metric_value, LP_ROLE_BUSY, 65536, false},
	{NULL},
};
