/* Reads the head of a record of RPC (RFC 5531): which request it is; for GlusterFS's file
 * operations also the file and the range. The bytes come from other programs, and may be anything.
 */
#ifndef TRACE_RPC_MESSAGE_H
#define TRACE_RPC_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rpc_message {
	bool is_call; /* else it is a reply */
	uint32_t xid; /* both have it */
	/* Of a call. */
	uint32_t program, procedure;
	const char *name; /* of the operation; "" if it is not known */
	uint8_t op;	  /* enum span_op */
	int32_t asker;	  /* the thread that the credentials name, 0: none */
	uint64_t key;	  /* the file, 0: not known */
	int64_t offset, size;
	/* Of a reply: the result of the operation, or a negative errno. */
	int64_t result;
};

/* `n` bytes after the record mark. False: it is not RPC. Missing fields are 0, offsets -1. */
bool rpc_message_parse(const uint8_t *p, size_t n, struct rpc_message *ret);

/* The key of a GlusterFS file: its inode number on clients is made of its gfid (16 bytes) that way.
 */
uint64_t rpc_gfid_key(const uint8_t gfid[16]);

/* The same from its text, "6ba7b810-9dad-11d1-80b4-00c04fd430c8", which servers use as a name. 0:
 * it is not a gfid. */
uint64_t rpc_gfid_text_key(const char *text);

#endif
