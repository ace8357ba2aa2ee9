/* The schemas of the rows of a trace. */
#include "base/array.h"
#include "trace/rows.h"
#include "trace/rows_columns.h"

#define COUNTER(name, unit)                                                                        \
	{                                                                                          \
		name, unit, LP_COUNTER, 64                                                         \
	}
#define GAUGE(name, unit)                                                                          \
	{                                                                                          \
		name, unit, LP_GAUGE, 0                                                            \
	}

static const struct lp_column sys_columns[] = {
	[SYS_DREAD_N] = COUNTER("dread_n", "calls"),
	[SYS_DREAD_NS] = COUNTER("dread_ns", "ns"),
	[SYS_DREAD_BYTES] = COUNTER("dread_bytes", "bytes"),
	[SYS_DWRITE_N] = COUNTER("dwrite_n", "calls"),
	[SYS_DWRITE_NS] = COUNTER("dwrite_ns", "ns"),
	[SYS_DWRITE_BYTES] = COUNTER("dwrite_bytes", "bytes"),
	[SYS_NSREAD_N] = COUNTER("nsread_n", "requests"),
	[SYS_NSREAD_NS] = COUNTER("nsread_ns", "ns"),
	[SYS_NCREAD_N] = COUNTER("ncread_n", "responses"),
	[SYS_NCREAD_NS] = COUNTER("ncread_ns", "ns"),
	[SYS_CALLS] = COUNTER("calls", "calls"),
	[SYS_ERRORS] = COUNTER("errors", "calls"),
	[SYS_LOST] = COUNTER("lost", "events"),
	[SYS_STUCK] = GAUGE("stuck", "calls"),
	[SYS_OLDEST_US] = GAUGE("oldest_us", "us"),
};

static const struct lp_column peer_columns[] = {
	[PEER_REQUESTS] = COUNTER("requests", "messages"),
	[PEER_RESPONSES] = COUNTER("responses", "messages"),
	[PEER_READ_N] = COUNTER("read_n", "messages"),
	[PEER_READ_NS] = COUNTER("read_ns", "ns"),
	[PEER_WAITING_US] = GAUGE("waiting_us", "us"),
};

#define BUCKET(b) [CALL_BUCKETS + (b)] = COUNTER("h" #b, "calls")

static const struct lp_column call_columns[] = {[CALL_N] = COUNTER("n", "calls"),
	[CALL_ERRORS] = COUNTER("errors", "calls"),
	[CALL_NS] = COUNTER("ns", "ns"),
	[CALL_BYTES] = COUNTER("bytes", "bytes"),
	BUCKET(0),
	BUCKET(1),
	BUCKET(2),
	BUCKET(3),
	BUCKET(4),
	BUCKET(5),
	BUCKET(6),
	BUCKET(7),
	BUCKET(8),
	BUCKET(9),
	BUCKET(10),
	BUCKET(11),
	BUCKET(12),
	BUCKET(13),
	BUCKET(14),
	BUCKET(15),
	BUCKET(16),
	BUCKET(17),
	BUCKET(18),
	BUCKET(19),
	BUCKET(20),
	BUCKET(21),
	BUCKET(22),
	BUCKET(23),
	BUCKET(24),
	BUCKET(25),
	BUCKET(26),
	BUCKET(27),
	BUCKET(28),
	BUCKET(29),
	BUCKET(30),
	BUCKET(31),
	BUCKET(32),
	BUCKET(33),
	BUCKET(34),
	BUCKET(35),
	BUCKET(36),
	BUCKET(37),
	BUCKET(38),
	BUCKET(39)};

static const struct lp_column errno_columns[] = {[ERRNO_N] = COUNTER("n", "calls")};

_Static_assert(ARRAY_SIZE(sys_columns) == SYS_COLUMNS, "a column has no description");
_Static_assert(ARRAY_SIZE(peer_columns) == PEER_COLUMNS, "a column has no description");
_Static_assert(ARRAY_SIZE(call_columns) == CALL_COLUMNS, "a column has no description");

const struct lp_schema trace_rows_schemas[TRACE_ROWS_KINDS] = {
	[TRACE_ROWS_SYS] = {"sys", sys_columns, SYS_COLUMNS},
	[TRACE_ROWS_PEER] = {"peer", peer_columns, PEER_COLUMNS},
	[TRACE_ROWS_CALL] = {"call", call_columns, CALL_COLUMNS},
	[TRACE_ROWS_ERRNO] = {"errno", errno_columns, ERRNO_COLUMNS},
};
