#include "import/remote/write_request.h"

#include "base/array.h"
#include "base/cleanup.h"
#include <errno.h>
#include <string.h>

/* A part of the message. */
struct wire {
	const unsigned char *at, *end;
};

enum wire_type { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

struct write_label {
	const char *name, *value; /* not ended by NUL */
	size_t name_len, value_len;
};

struct write_sample {
	int64_t ms;
	double value;
};

struct write_series {
	struct write_label labels[WRITE_LABELS_MAX];
	size_t n_labels;
	struct write_sample *samples;
	size_t n_samples, cap_samples;
	/* The values of labels that were asked for; each may be held while others are. */
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

/* The next field: 1, 0 at the end, or -EBADMSG. Of WIRE_BYTES `ret_part` is what it holds; of
 * others `ret_value`. */
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

static const char *series_label(const void *series, const char *label)
{
	/* Texts are put in the series itself, which nobody else uses. */
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
			lp_err_set(err, r, "this is no write request of Prometheus");
		}
	}
	if (r == -EBADMSG && !err->code)
		lp_err_set(err, r, "this is no write request of Prometheus");
	free(s->samples);
	return r;
}
