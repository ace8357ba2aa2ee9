#include "trace/stack/bmi_message.h"

#include "base/array.h"
#include "model/span.h"
#include <errno.h>
#include <string.h>

#define MAGIC 51903u
#define MODE_UNEXPECTED 2u
#define MODE_EAGER 4u
#define MODE_RENDEZVOUS 8u
#define SIZE_MAX_SANE (INT64_C(1) << 30)

#define OP_IO 3u
#define OP_SMALL_IO 33u
#define OP_WRITE_COMPLETION 14u

enum { IO_READ = 1, IO_WRITE = 2 };

#define ERROR_BIT (1 << 30)
#define ERROR_OTHER (1 << 29) /* it is none of those of errno */
#define ERROR_MASK 0x7f

#define STRIPE "simple_stripe"
#define DATATYPE 80u /* bytes of one */
#define HANDLES_MAX 4096u

/* Operations by number. */
static const struct {
	const char *name;
	uint8_t op;
	bool is_file; /* its arguments begin with the handle of a file */
} operations[] = {
	[1] = {"CREATE", SPAN_OPEN, false},
	[2] = {"REMOVE", SPAN_META, true},
	[OP_IO] = {"IO", SPAN_OTHER, true}, /* which says itself whether it reads or writes */
	[4] = {"GETATTR", SPAN_META, false},
	[5] = {"SETATTR", SPAN_META, false},
	[6] = {"LOOKUP_PATH", SPAN_META, false},
	[7] = {"CRDIRENT", SPAN_META, false},
	[8] = {"RMDIRENT", SPAN_META, false},
	[9] = {"CHDIRENT", SPAN_META, false},
	[10] = {"TRUNCATE", SPAN_META, true},
	[11] = {"MKDIR", SPAN_META, false},
	[12] = {"READDIR", SPAN_META, false},
	[13] = {"GETCONFIG", SPAN_META, false},
	[15] = {"FLUSH", SPAN_SYNC, true},
	[16] = {"MGMT_SETPARAM", SPAN_META, false},
	[17] = {"MGMT_NOOP", SPAN_META, false},
	[18] = {"STATFS", SPAN_META, false},
	[20] = {"MGMT_PERF_MON", SPAN_META, false},
	[21] = {"MGMT_ITERATE_HANDLES", SPAN_META, false},
	[22] = {"MGMT_DSPACE_INFO_LIST", SPAN_META, false},
	[23] = {"MGMT_EVENT_MON", SPAN_META, false},
	[24] = {"MGMT_REMOVE_OBJECT", SPAN_META, false},
	[25] = {"MGMT_REMOVE_DIRENT", SPAN_META, false},
	[26] = {"MGMT_GET_DIRDATA_HANDLE", SPAN_META, false},
	[29] = {"GETEATTR", SPAN_META, false},
	[30] = {"SETEATTR", SPAN_META, false},
	[31] = {"DELEATTR", SPAN_META, false},
	[32] = {"LISTEATTR", SPAN_META, false},
	[OP_SMALL_IO] = {"SMALL_IO", SPAN_OTHER, true},
	[34] = {"LISTATTR", SPAN_META, false},
	[35] = {"BATCH_CREATE", SPAN_META, false},
	[36] = {"BATCH_REMOVE", SPAN_META, false},
	[38] = {"UNSTUFF", SPAN_META, false},
	[39] = {"MIRROR", SPAN_META, false},
	[40] = {"IMM_COPIES", SPAN_META, false},
	[41] = {"TREE_REMOVE", SPAN_META, false},
	[42] = {"TREE_GET_FILE_SIZE", SPAN_META, false},
	[43] = {"MGMT_GET_UID", SPAN_META, false},
	[44] = {"TREE_SETATTR", SPAN_META, false},
	[45] = {"MGMT_GET_DIRENT", SPAN_META, false},
	[46] = {"MGMT_CREATE_ROOT_DIR", SPAN_META, false},
	[47] = {"MGMT_SPLIT_DIRENT", SPAN_META, false},
	[48] = {"ATOMICEATTR", SPAN_META, false},
	[49] = {"TREE_GETATTR", SPAN_META, false},
	[50] = {"MGMT_GET_USER_CERT", SPAN_META, false},
	[51] = {"MGMT_GET_USER_CERT_KEYREQ", SPAN_META, false},
};

/* Errors by number. */
static const int errors[] = {
	[1] = EPERM,
	[2] = ENOENT,
	[3] = EINTR,
	[4] = EIO,
	[5] = ENXIO,
	[6] = EBADF,
	[7] = EAGAIN,
	[8] = ENOMEM,
	[9] = EFAULT,
	[10] = EBUSY,
	[11] = EEXIST,
	[12] = ENODEV,
	[13] = ENOTDIR,
	[14] = EISDIR,
	[15] = EINVAL,
	[16] = EMFILE,
	[17] = EFBIG,
	[18] = ENOSPC,
	[19] = EROFS,
	[20] = EMLINK,
	[21] = EPIPE,
	[22] = EDEADLK,
	[23] = ENAMETOOLONG,
	[24] = ENOLCK,
	[25] = ENOSYS,
	[26] = ENOTEMPTY,
	[27] = ELOOP,
	[53] = ETIMEDOUT,
	[54] = ECONNREFUSED,
	[58] = EACCES,
	[59] = ECONNRESET,
	[60] = ERANGE,
};

/* What is left of the head. */
struct reading {
	const uint8_t *begin, *p, *end;
	bool short_of; /* something was behind the end */
};

static const uint8_t *take(struct reading *rd, size_t n)
{
	const uint8_t *p = rd->p;

	if ((size_t)(rd->end - rd->p) < n) {
		rd->short_of = true;
		rd->p = rd->end;
		return NULL;
	}
	rd->p += n;
	return p;
}

static uint64_t take_number(struct reading *rd, size_t bytes)
{
	const uint8_t *p = take(rd, bytes);
	uint64_t n = 0;

	for (size_t i = bytes; p && i-- > 0;)
		n = n << 8 | p[i];
	return n;
}

static uint32_t take_u32(struct reading *rd)
{
	return (uint32_t)take_number(rd, 4);
}

static uint64_t take_u64(struct reading *rd)
{
	return take_number(rd, 8);
}

/* Some parts end at a multiple of eight bytes, counted from the header's end. */
static void take_padding(struct reading *rd)
{
	take(rd, (8 - (size_t)(rd->p - rd->begin) % 8) % 8);
}

/* A length, and a text that ends with a NUL, in whole words; NULL: it is empty, or cut. */
static const uint8_t *take_text(struct reading *rd, uint32_t *ret_len)
{
	const uint8_t *p;

	*ret_len = take_u32(rd);
	if (!*ret_len) {
		take(rd, 4);
		return NULL;
	}
	/* The length itself is part of the words. */
	p = take(rd, (((size_t)*ret_len + 5 + 7) & ~(size_t)7) - 4);
	return p;
}

/* What allows the request: issuer, signature, the files that it is for. */
static void take_capability(struct reading *rd)
{
	uint32_t n;

	take_text(rd, &n);
	take(rd, 8);
	take(rd, take_u32(rd));
	take_padding(rd);
	take(rd, 12);
	n = take_u32(rd);
	if (n > HANDLES_MAX)
		rd->short_of = true;
	else
		take(rd, (size_t)n * 8);
	take_padding(rd);
}

/* Hints of the request that help to debug the file system. Other hints are not understood. */
static bool take_hints(struct reading *rd)
{
	enum { HANDLE = 3, LAST = 14 };
	uint32_t n = take_u32(rd);

	for (uint32_t i = 0; i < n && !rd->short_of; i++) {
		uint32_t type = take_u32(rd);

		if (type == 0 || type > LAST)
			return false;
		take(rd, type == HANDLE ? 8 : 4);
	}
	return !rd->short_of;
}

/* How the file is distributed: the bytes of a strip; 0: in another way. */
static uint64_t take_strip(struct reading *rd)
{
	uint32_t len;
	const uint8_t *name = take_text(rd, &len);
	uint64_t strip;

	if (!name || len != strlen(STRIPE) || memcmp(name, STRIPE, len) != 0)
		return 0;
	strip = take_u64(rd);
	take_padding(rd);
	return strip;
}

/* The range of the request, if it is one range without holes. */
static bool take_datatype(struct reading *rd)
{
	uint32_t nested = take_u32(rd);
	uint64_t offset, upper, lower, bytes;
	struct reading first;

	take(rd, 4);
	first = *rd;
	take(rd, nested < HANDLES_MAX ? ((size_t)nested + 1) * DATATYPE : SIZE_MAX / 2);
	offset = take_u64(&first);
	take(&first, 16);
	upper = take_u64(&first);
	lower = take_u64(&first);
	bytes = take_u64(&first);
	return !rd->short_of && !offset && !lower && upper == bytes && take_u32(&first) == 1;
}

/* How many of the first `n` bytes of a file are on a server: of whole rounds, and of the last. */
static int64_t share(int64_t n, int64_t strip, uint32_t server, uint32_t servers)
{
	int64_t round = strip * servers, rest = n % round - strip * server;

	return n / round * strip + (rest < 0 ? 0 : rest < strip ? rest : strip);
}

/* The first offset, at `offset` or after it, that is on this server. */
static int64_t first_on(int64_t offset, int64_t strip, uint32_t server, uint32_t servers)
{
	int64_t round = strip * servers, begin = offset - offset % round + strip * server;

	if (offset < begin)
		return begin;
	return offset < begin + strip ? offset : begin + round;
}

/* Server number, servers, distribution, datatype, offset and size: which part is this server's. */
static void take_range(struct reading *rd, struct bmi_request *q)
{
	uint32_t server = take_u32(rd), servers = take_u32(rd);
	uint64_t strip = take_strip(rd), offset, size;

	if (!strip || strip > (uint64_t)SIZE_MAX_SANE || !servers || servers > HANDLES_MAX ||
		server >= servers || !take_datatype(rd))
		return;
	offset = take_u64(rd);
	size = take_u64(rd);
	if (rd->short_of || offset > INT64_MAX / 4 || size > (uint64_t)SIZE_MAX_SANE)
		return;
	q->offset = share((int64_t)offset, (int64_t)strip, server, servers);
	q->size = share((int64_t)(offset + size), (int64_t)strip, server, servers) - q->offset;
	q->file_offset = first_on((int64_t)offset, (int64_t)strip, server, servers);
}

/* A read or write: the file, the direction, and the range. */
static void take_io(struct reading *rd, struct bmi_request *q)
{
	uint32_t type;

	take(rd, q->number == OP_IO ? 8 : 4);
	type = take_u32(rd);
	if (q->number == OP_IO)
		take(rd, 4);
	if (rd->short_of || (type != IO_READ && type != IO_WRITE))
		return;
	q->op = type == IO_READ ? SPAN_READ : SPAN_WRITE;
	take_range(rd, q);
}

bool bmi_message_parse(const uint8_t *p, size_t n, struct bmi_message *ret)
{
	struct reading rd = {p, p, p + n, false};
	uint32_t magic = take_u32(&rd), mode = take_u32(&rd);
	uint64_t size;

	ret->is_request = mode == MODE_UNEXPECTED;
	ret->tag = take_u64(&rd);
	size = take_u64(&rd);
	ret->size = size > (uint64_t)SIZE_MAX_SANE ? 0 : (int64_t)size;
	return !rd.short_of && magic == MAGIC && size <= (uint64_t)SIZE_MAX_SANE &&
		(mode == MODE_UNEXPECTED || mode == MODE_EAGER || mode == MODE_RENDEZVOUS);
}

/* The operation: it follows the header, and the version and encoding that begin every message. */
static struct reading body(const uint8_t *p, size_t n)
{
	struct reading rd = {p + BMI_HEADER, p + BMI_HEADER, p + n, n < BMI_HEADER};

	if (rd.short_of)
		rd = (struct reading){p, p, p, true};
	take(&rd, 8);
	return rd;
}

bool bmi_request_parse(const uint8_t *p, size_t n, struct bmi_request *ret)
{
	struct reading rd = body(p, n);
	struct bmi_request q = {.name = "", .offset = -1, .file_offset = -1};

	q.number = take_u32(&rd);
	take(&rd, 4);
	if (rd.short_of)
		return false;
	if (q.number < ARRAY_SIZE(operations) && operations[q.number].name) {
		q.name = operations[q.number].name;
		q.op = operations[q.number].op;
		take_capability(&rd);
		if (operations[q.number].is_file && take_hints(&rd)) {
			q.key = take_u64(&rd);
			if (q.number == OP_IO || q.number == OP_SMALL_IO)
				take_io(&rd, &q);
		}
	}
	*ret = q;
	return true;
}

static int64_t error_of(int32_t status)
{
	uint32_t code = (uint32_t) - (int64_t)status;

	if (status >= 0)
		return 0;
	if (!(code & ERROR_BIT) || code & ERROR_OTHER ||
		(code & ERROR_MASK) >= ARRAY_SIZE(errors) || !errors[code & ERROR_MASK])
		return -EIO;
	return -errors[code & ERROR_MASK];
}

/* The bytes that a read gets from a file of this size. */
static int64_t readable(const struct bmi_request *q, int64_t file_size)
{
	int64_t n = file_size - q->offset;

	return n < 0 ? 0 : n < q->size ? n : q->size;
}

/* The first answer. */
static int take_first(struct bmi_request *q, struct reading *rd)
{
	uint32_t number = take_u32(rd);
	int32_t status = (int32_t)take_u32(rd);
	uint64_t size = 0;

	if (rd->short_of || number != q->number)
		return -EBADMSG;
	q->answered = true;
	q->result = error_of(status);
	if (q->result < 0)
		return 1;
	if (number == OP_SMALL_IO) {
		take(rd, 16);
		size = take_u64(rd);
		q->result = rd->short_of || size > (uint64_t)SIZE_MAX_SANE ? 0 : (int64_t)size;
	}
	if (number != OP_IO)
		return 1;
	size = take_u64(rd);
	if (q->op != SPAN_READ || q->offset < 0)
		return 0;
	q->wants = rd->short_of || size > INT64_MAX ? 0 : readable(q, (int64_t)size);
	return q->wants == 0;
}

/* The answer that ends a large write. */
static int take_completion(struct bmi_request *q, struct reading *rd)
{
	uint32_t number = take_u32(rd);
	int32_t status = (int32_t)take_u32(rd);
	uint64_t size = take_u64(rd);

	if (rd->short_of || number != OP_WRITE_COMPLETION)
		return -EBADMSG;
	q->result = error_of(status);
	if (q->result == 0 && size <= (uint64_t)SIZE_MAX_SANE)
		q->result = (int64_t)size;
	return 1;
}

int bmi_answer_take(struct bmi_request *q, const uint8_t *p, size_t n)
{
	struct reading rd = body(p, n);
	struct bmi_message m;

	if (!bmi_message_parse(p, n, &m) || m.is_request)
		return -EBADMSG;
	if (!q->answered)
		return take_first(q, &rd);
	if (q->op == SPAN_WRITE)
		return take_completion(q, &rd);
	q->moved += m.size;
	q->result = q->moved;
	return q->moved >= q->wants;
}

uint64_t bmi_file_key(const char *name)
{
	size_t n = strspn(name, "0123456789abcdef");
	uint64_t key = 0;

	if (n < 8 || n > 16 || strcmp(name + n, ".bstream") != 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		key = key << 4 | (unsigned)(name[i] <= '9' ? name[i] - '0' : name[i] - 'a' + 10);
	return key;
}
