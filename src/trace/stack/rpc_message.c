#include "trace/stack/rpc_message.h"

#include "base/array.h"
#include "model/span.h"
#include <ctype.h>
#include <string.h>

enum { RPC_CALL = 0, RPC_REPLY = 1, RPC_VERSION = 2 };

#define GLUSTER_FOP 1298437u
#define AUTH_GLUSTER_FIRST 390039u /* flavours of its credentials, which begin with a thread */
#define AUTH_GLUSTER_LAST 390041u

/* GlusterFS's file operations, by number. */
static const struct {
	const char *name;
	uint8_t op;
	bool is_file; /* its arguments begin with the file's gfid and a descriptor */
} operations[] = {
	[1] = {"STAT", SPAN_META, false},
	[2] = {"READLINK", SPAN_META, false},
	[3] = {"MKNOD", SPAN_META, false},
	[4] = {"MKDIR", SPAN_META, false},
	[5] = {"UNLINK", SPAN_META, false},
	[6] = {"RMDIR", SPAN_META, false},
	[7] = {"SYMLINK", SPAN_META, false},
	[8] = {"RENAME", SPAN_META, false},
	[9] = {"LINK", SPAN_META, false},
	[10] = {"TRUNCATE", SPAN_META, false},
	[11] = {"OPEN", SPAN_OPEN, false},
	[12] = {"READ", SPAN_READ, true},
	[13] = {"WRITE", SPAN_WRITE, true},
	[14] = {"STATFS", SPAN_META, false},
	[15] = {"FLUSH", SPAN_CLOSE, true},
	[16] = {"FSYNC", SPAN_SYNC, true},
	[17] = {"SETXATTR", SPAN_META, false},
	[18] = {"GETXATTR", SPAN_META, false},
	[19] = {"REMOVEXATTR", SPAN_META, false},
	[20] = {"OPENDIR", SPAN_META, false},
	[21] = {"FSYNCDIR", SPAN_META, false},
	[22] = {"ACCESS", SPAN_META, false},
	[23] = {"CREATE", SPAN_OPEN, false},
	[24] = {"FTRUNCATE", SPAN_META, true},
	[25] = {"FSTAT", SPAN_META, true},
	[26] = {"LK", SPAN_META, true},
	[27] = {"LOOKUP", SPAN_META, false},
	[28] = {"READDIR", SPAN_META, false},
	[29] = {"INODELK", SPAN_META, false},
	[30] = {"FINODELK", SPAN_META, true},
	[31] = {"ENTRYLK", SPAN_META, false},
	[32] = {"FENTRYLK", SPAN_META, false},
	[33] = {"XATTROP", SPAN_META, false},
	[34] = {"FXATTROP", SPAN_META, true},
	[35] = {"FGETXATTR", SPAN_META, true},
	[36] = {"FSETXATTR", SPAN_META, true},
	[37] = {"RCHECKSUM", SPAN_META, true},
	[38] = {"SETATTR", SPAN_META, false},
	[39] = {"FSETATTR", SPAN_META, true},
	[40] = {"READDIRP", SPAN_META, false},
	[41] = {"RELEASE", SPAN_CLOSE, false},
	[42] = {"RELEASEDIR", SPAN_META, false},
	[43] = {"FREMOVEXATTR", SPAN_META, true},
	[44] = {"FALLOCATE", SPAN_META, true},
	[45] = {"DISCARD", SPAN_META, true},
	[46] = {"ZEROFILL", SPAN_META, true},
};

/* What is left of the head. */
struct reading {
	const uint8_t *p, *end;
	bool short_of; /* something was behind the end */
};

static const uint8_t *take(struct reading *rd, size_t n)
{
	const uint8_t *p = rd->p;

	if ((size_t)(rd->end - rd->p) < n) {
		rd->short_of = true;
		return NULL;
	}
	rd->p += n;
	return p;
}

static uint32_t take_u32(struct reading *rd)
{
	const uint8_t *p = take(rd, 4);

	return p ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3] : 0;
}

static uint64_t take_u64(struct reading *rd)
{
	uint64_t high = take_u32(rd);

	return high << 32 | take_u32(rd);
}

/* Credentials, or a verifier: a flavour, a length, and that many bytes in whole words. */
static void take_auth(struct reading *rd, int32_t *ret_asker)
{
	uint32_t flavour = take_u32(rd), len = take_u32(rd);
	struct reading body = *rd;

	take(rd, ((size_t)len + 3) & ~(size_t)3);
	if (ret_asker && !rd->short_of && flavour >= AUTH_GLUSTER_FIRST &&
		flavour <= AUTH_GLUSTER_LAST && len >= 4)
		*ret_asker = (int32_t)take_u32(&body);
}

uint64_t rpc_gfid_key(const uint8_t gfid[16])
{
	uint64_t key = 0;

	for (int i = 8; i < 16; i++)
		key = key << 8 | gfid[i];
	return key;
}

uint64_t rpc_gfid_text_key(const char *text)
{
	static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
	uint64_t key = 0;

	if (strlen(text) != sizeof(form) - 1)
		return 0;
	for (size_t i = 0; form[i]; i++) {
		char c = text[i];

		if ((form[i] == '-') != (c == '-') || (c != '-' && !isxdigit((unsigned char)c)))
			return 0;
		if (c != '-')
			key = key << 4 | (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	return key; /* the last 64 bits */
}

/* A file and a descriptor; of READ and WRITE also an offset and a size. */
static void take_file(struct reading *rd, struct rpc_message *m)
{
	const uint8_t *gfid = take(rd, 16);
	int64_t offset, size;

	if (gfid)
		m->key = rpc_gfid_key(gfid);
	if (m->op != SPAN_READ && m->op != SPAN_WRITE)
		return;
	take_u64(rd);
	offset = (int64_t)take_u64(rd);
	size = take_u32(rd);
	if (!rd->short_of && offset >= 0) {
		m->offset = offset;
		m->size = size;
	}
}

static bool take_call(struct reading *rd, struct rpc_message *m)
{
	uint32_t version = take_u32(rd);

	m->program = take_u32(rd);
	take_u32(rd);
	m->procedure = take_u32(rd);
	if (rd->short_of || version != RPC_VERSION)
		return false;
	take_auth(rd, &m->asker);
	take_auth(rd, NULL);
	if (m->program != GLUSTER_FOP || m->procedure >= ARRAY_SIZE(operations) ||
		!operations[m->procedure].name)
		return true;
	m->name = operations[m->procedure].name;
	m->op = operations[m->procedure].op;
	if (operations[m->procedure].is_file && !rd->short_of)
		take_file(rd, m);
	return true;
}

/* Accepted, with a verifier; then, if it is of GlusterFS, the result and the error. */
static void take_reply(struct reading *rd, struct rpc_message *m)
{
	uint32_t denied = take_u32(rd), failed;
	int32_t result, error;

	take_auth(rd, NULL);
	failed = take_u32(rd);
	result = (int32_t)take_u32(rd);
	error = (int32_t)take_u32(rd);
	if (!rd->short_of && !denied && !failed)
		m->result = result >= 0 ? result : error > 0 ? -(int64_t)error : -1;
}

bool rpc_message_parse(const uint8_t *p, size_t n, struct rpc_message *ret)
{
	struct reading rd = {p, p + n, false};
	struct rpc_message m = {.name = "", .offset = -1};
	uint32_t type;

	m.xid = take_u32(&rd);
	type = take_u32(&rd);
	m.is_call = type == RPC_CALL;
	if (rd.short_of || (type != RPC_CALL && type != RPC_REPLY))
		return false;
	if (!m.is_call)
		take_reply(&rd, &m);
	else if (!take_call(&rd, &m))
		return false;
	*ret = m;
	return true;
}
