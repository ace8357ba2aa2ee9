/* Well-formed but malicious records of system calls and descriptors: each field has any value that
 * a log can hold. fuzz_trace would have to find such records through the bytes of a frame; this
 * target begins with them.
 *
 * A record is RECORD_BYTES of the input: its type, process, call, time, result, and four arguments.
 * If it has a text, that follows, with its length first. There are few processes and descriptors,
 * so that records refer to the same ones.
 */
#include "fuzz.h"

#include "base/bytes.h"
#include "model/syscalls.h"
#include "trace_audience.h"

#define RECORD_BYTES 16
#define RECORDS_MAX 400

/* Values for records, in addition to small ones. */
static const int64_t extremes[] = {0, -1, INT64_MAX, INT64_MIN, INT32_MAX, INT32_MIN, UINT32_MAX,
	INT64_C(1) << 40, -2, -4, -11, -28, -104, -110, -111, -512};

static int64_t value_of(uint8_t byte)
{
	return byte < 240 ? byte : extremes[byte - 240];
}

/* The reader of logs limits times to these. */
static int64_t limited(int64_t ns, int64_t max)
{
	return ns < 0 ? 0 : ns > max ? max : ns;
}

/* Times advance by powers of two, sometimes go back, and sometimes jump far away. */
static int64_t time_of(int64_t now_ns, uint8_t byte)
{
	int64_t step = INT64_C(1) << (byte & 63) % 62;

	if (byte >= 0xf8)
		return value_of(byte);
	return limited(byte & 0x80 ? now_ns - (step >> 8) : now_ns + step, TRACE_LOG_TIME_MAX);
}

static struct trace_event event_of(
	const uint8_t *p, uint64_t seq, int64_t now_ns, const char *text, uint32_t len)
{
	struct trace_event e = {.seq = p[0] & 0x80 ? seq ^ p[1] : seq,
		.start_ns = limited(now_ns, TRACE_LOG_TIME_MAX),
		.dur_ns = limited(p[3] >= 240 ? value_of(p[3]) : INT64_C(1) << p[3] % 60,
			TRACE_LOG_DURATION_MAX),
		.pid = p[4] % 5 ? 100 + p[4] % 5 : (int32_t)value_of(p[4]),
		.tid = p[5] % 5 ? 100 + p[5] % 5 : (int32_t)value_of(p[5]),
		.nr = (uint16_t)((p[6] | p[7] << 8) % (SYSCALL_MAX + 8)),
		.what = p[0] & 7,
		.flags = p[8],
		.file = p[9],
		.ret = value_of(p[10]),
		.text = text,
		.text_len = len};

	for (unsigned i = 0; i < 4; i++)
		e.args[i] = (uint64_t)value_of(p[12 + i]);
	return e;
}

static void tell_descriptor(struct audience *a, const uint8_t *p, uint64_t seq, int64_t now_ns,
	const char *text, uint32_t len)
{
	char name[256];
	struct trace_descriptor d = {.seq = p[0] & 0x80 ? 0 : seq,
		.time_ns = limited(now_ns, TRACE_LOG_TIME_MAX),
		.pid = p[4] % 5 ? 100 + p[4] % 5 : (int32_t)value_of(p[4]),
		.fd = p[5] % 9 ? p[5] % 9 : (int32_t)value_of(p[5]),
		.from = (int32_t)value_of(p[6]),
		.change = p[7],
		.file = p[9],
		.name = name};

	snprintf(name, sizeof(name), "%.*s", (int)len, text ? text : "");
	take_descriptor(a, seq, &d);
}

static void input_tell(struct audience *a, const uint8_t *data, size_t size, bool descriptors)
{
	struct cursor in = {.p = data, .end = data + size};
	int64_t now_ns = INT64_C(5000000000);

	for (uint64_t n = 1; n <= RECORDS_MAX && in.end - in.p > RECORD_BYTES; n++) {
		const uint8_t *p = cursor_bytes(&in, RECORD_BYTES);
		size_t left = (size_t)(in.end - in.p), len = p[11] % 64;
		const char *text = (const char *)cursor_bytes(&in, len < left ? len : left);

		len = len < left ? len : left;
		now_ns = time_of(now_ns, p[2]);
		a->host = p[1] & 1;
		if (p[0] & 8 && descriptors) {
			tell_descriptor(a, p, n, now_ns, text, (uint32_t)len);
		} else if (!(p[0] & 8) && !descriptors) {
			struct trace_event e = event_of(p, n, now_ns, text, (uint32_t)len);

			take_event(a, n, &e);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct audience a;
	struct hosts hosts = {0};
	struct semantic_options options = {0};

	audience_begin(&a, &hosts, &options, size % 2);
	input_tell(&a, data, size, true);
	input_tell(&a, data, size, false);
	audience_end(&a, &hosts);
	return 0;
}
