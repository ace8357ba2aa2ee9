#include "import/remote/write_request.h"

#include "base/array.h"
#include "base/cleanup.h"
#include <errno.h>
#include <string.h>

/* A part of the message. */
struct wire {
	const unsigned char *at, *end;
};

#define VARINT_MAX 10 /* bytes of a 64-bit number */
#define SAMPLE_MAX 32 /* maximum size of a sample in bytes */

enum wire_type { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

struct write_label {
	const char *name, *value; /* not NUL-terminated */
	size_t name_len, value_len;
};

struct write_series {
	struct write_label labels[WRITE_LABELS_MAX];
	size_t n_labels;
	struct write_sample *samples;
	size_t n_samples, cap_samples;
	/* Requested label values; several may be in use at the same time. */
	char texts[8][512];
	unsigned next_text;
};

static bool varint_read(struct wire *w, uint64_t *ret)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && w->at < w->end; shift += 7) {
		unsigned char byte = *w->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = value;
			return true;
		}
	}
	return false;
}

static size_t varint_put(unsigned char *to, uint64_t value)
{
	size_t n = 0;

	for (; value > 0x7f; value >>= 7)
		to[n++] = (unsigned char)(value | 0x80);
	to[n++] = (unsigned char)value;
	return n;
}

/* The beginning of a field: its number, its type and, for WIRE_BYTES, its length. */
static void field_begin(struct strbuf *to, unsigned number, enum wire_type type, size_t len)
{
	unsigned char head[2 * VARINT_MAX];
	size_t n = varint_put(head, number << 3 | type);

	if (type == WIRE_BYTES)
		n += varint_put(head + n, len);
	strbuf_add(to, head, n);
}

static void bytes_add(struct strbuf *to, unsigned number, const void *data, size_t len)
{
	field_begin(to, number, WIRE_BYTES, len);
	strbuf_add(to, data, len);
}

/* The size of a WIRE_BYTES field with a number below 16. */
static size_t bytes_size(size_t len)
{
	unsigned char scratch[VARINT_MAX];

	return 1 + varint_put(scratch, len) + len;
}

/* The next field. Returns 1, 0 at the end, or -EBADMSG. Sets `ret_part` for WIRE_BYTES, and
 * `ret_value` for other types. */
static int field_read(struct wire *w, unsigned *ret_number, enum wire_type *ret_type,
	uint64_t *ret_value, struct wire *ret_part)
{
	uint64_t key, len;

	if (w->at == w->end)
		return 0;
	if (!varint_read(w, &key) || key >> 3 == 0 || key >> 3 > 1000)
		return -EBADMSG;
	*ret_number = (unsigned)(key >> 3);
	*ret_type = (enum wire_type)(key & 7);
	*ret_value = 0;
	switch (key & 7) {
	case WIRE_VARINT:
		return varint_read(w, ret_value) ? 1 : -EBADMSG;
	case WIRE_64:
	case WIRE_32:
		len = (key & 7) == WIRE_64 ? 8 : 4;
		break;
	case WIRE_BYTES:
		if (!varint_read(w, &len))
			return -EBADMSG;
		break;
	default:
		return -EBADMSG;
	}
	if (len > (uint64_t)(w->end - w->at))
		return -EBADMSG;
	*ret_part = (struct wire){w->at, w->at + len};
	for (size_t i = 0; (key & 7) != WIRE_BYTES && i < len; i++)
		*ret_value |= (uint64_t)w->at[i] << (8 * i);
	w->at += len;
	return 1;
}

/* message Label { string name = 1; string value = 2; } */
static int label_read(struct wire w, struct write_series *s)
{
	struct write_label l = {.name = "", .value = ""};
	enum wire_type type;
	struct wire part = {0};
	unsigned number;
	uint64_t value;
	int r;

	while ((r = field_read(&w, &number, &type, &value, &part)) == 1) {
		if (type != WIRE_BYTES)
			continue;
		if (number == 1) {
			l.name = (const char *)part.at;
			l.name_len = (size_t)(part.end - part.at);
		} else if (number == 2) {
			l.value = (const char *)part.at;
			l.value_len = (size_t)(part.end - part.at);
		}
	}
	if (r < 0 || s->n_labels == WRITE_LABELS_MAX)
		return -EBADMSG;
	s->labels[s->n_labels++] = l;
	return 0;
}

void write_label_add(struct strbuf *labels, const char *name, const char *value)
{
	size_t name_len = strlen(name), value_len = strlen(value);

	if (!value_len)
		return;
	field_begin(labels, 1, WIRE_BYTES, bytes_size(name_len) + bytes_size(value_len));
	bytes_add(labels, 1, name, name_len);
	bytes_add(labels, 2, value, value_len);
}

/* message Sample { double value = 1; int64 timestamp = 2; } */
static int sample_read(struct wire w, struct write_series *s)
{
	struct write_sample sample = {0};
	enum wire_type type;
	struct wire part;
	unsigned number;
	uint64_t value;
	int r;

	while ((r = field_read(&w, &number, &type, &value, &part)) == 1) {
		if (number == 1 && type == WIRE_64)
			memcpy(&sample.value, &value, sizeof(sample.value));
		else if (number == 2 && type == WIRE_VARINT)
			sample.ms = (int64_t)value;
	}
	if (r < 0 || s->n_samples == WRITE_SAMPLES_MAX || sample.ms > INT64_C(253402300800000) ||
		sample.ms < 0)
		return -EBADMSG;
	if (array_reserve(&s->samples, &s->cap_samples, s->n_samples + 1, sizeof(*s->samples)) < 0)
		return -ENOMEM;
	s->samples[s->n_samples++] = sample;
	return 0;
}

/* Write a sample as a field of its series, with number and length. Returns its size. */
static size_t sample_put(unsigned char to[SAMPLE_MAX], const struct write_sample *sample)
{
	unsigned char ms[VARINT_MAX];
	size_t n = varint_put(ms, (uint64_t)sample->ms), at = 0;
	uint64_t value;

	memcpy(&value, &sample->value, sizeof(value));
	to[at++] = 2 << 3 | WIRE_BYTES;
	to[at++] = (unsigned char)(1 + sizeof(value) + 1 + n);
	to[at++] = 1 << 3 | WIRE_64;
	for (unsigned shift = 0; shift < 64; shift += 8)
		to[at++] = (unsigned char)(value >> shift);
	to[at++] = 2 << 3 | WIRE_VARINT;
	memcpy(to + at, ms, n);
	return at + n;
}

static const char *series_label(const void *series, const char *label)
{
	/* Texts are stored in the series itself, which is not shared. */
	struct write_series *s = (struct write_series *)series;
	size_t len = strlen(label);

	for (size_t i = 0; i < s->n_labels; i++) {
		const struct write_label *l = &s->labels[i];
		char *text;

		if (l->name_len != len || memcmp(l->name, label, len) != 0)
			continue;
		if (l->value_len >= sizeof(s->texts[0]) || memchr(l->value, '\0', l->value_len))
			return NULL;
		text = s->texts[s->next_text++ % ARRAY_SIZE(s->texts)];
		memcpy(text, l->value, l->value_len);
		text[l->value_len] = '\0';
		return text;
	}
	return NULL;
}

static int series_sample(const void *series, size_t i, int64_t *ret_ms, double *ret_value)
{
	const struct write_series *s = series;

	if (i >= s->n_samples)
		return 0;
	*ret_ms = s->samples[i].ms;
	*ret_value = s->samples[i].value;
	return 1;
}

/* message TimeSeries { repeated Label labels = 1; repeated Sample samples = 2; } */
static int series_read(struct wire w, struct write_series *s)
{
	enum wire_type type;
	struct wire part = {0};
	unsigned number;
	uint64_t value;
	int r;

	s->n_labels = s->n_samples = 0;
	while ((r = field_read(&w, &number, &type, &value, &part)) == 1) {
		if (type == WIRE_BYTES && number == 1)
			r = label_read(part, s);
		else if (type == WIRE_BYTES && number == 2)
			r = sample_read(part, s);
		if (r < 0)
			break;
	}
	return r < 0 ? r : 0;
}

void write_series_add(struct strbuf *message, const void *labels, size_t labels_len,
	const struct write_sample *samples, size_t n)
{
	unsigned char one[SAMPLE_MAX];
	size_t len = labels_len;

	for (size_t i = 0; i < n; i++)
		len += sample_put(one, &samples[i]);
	field_begin(message, 1, WIRE_BYTES, len);
	strbuf_add(message, labels, labels_len);
	for (size_t i = 0; i < n; i++)
		strbuf_add(message, one, sample_put(one, &samples[i]));
}

/* message WriteRequest { repeated TimeSeries timeseries = 1; ... } */
int write_request_parse(
	const void *data, size_t size, write_series_fn fn, void *ctx, struct lp_err *err)
{
	_cleanup_free_ struct write_series *s = calloc(1, sizeof(*s));
	struct wire w = {data, (const unsigned char *)data + size}, part = {0};
	enum wire_type type;
	unsigned number;
	uint64_t value;
	int r = 0;

	if (!s)
		return lp_err_sys(err, -ENOMEM, "cannot read a write request");
	while (r >= 0 && (r = field_read(&w, &number, &type, &value, &part)) == 1) {
		struct gather_input in = {
			.label = series_label, .series = s, .sample = series_sample};

		if (number != 1 || type != WIRE_BYTES)
			continue;
		r = series_read(part, s);
		in.n = s->n_samples;
		if (r == 0) {
			r = fn(ctx, &in, err);
			if (r != 0)
				break;
		} else {
			lp_err_set(err, r, "this is not a write request of Prometheus");
		}
	}
	if (r == -EBADMSG && !err->code)
		lp_err_set(err, r, "this is not a write request of Prometheus");
	free(s->samples);
	return r;
}
