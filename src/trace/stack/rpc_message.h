/* What the head of a record of RPC (RFC 5531) says: which request it is, and of GlusterFS's file
 * operations what they are about. The bytes come from other people's programs.
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
	/* Of a reply: what the operation returned, or a negative errno. */
	int64_t result;
};

/* `n` bytes after the record mark. False: it is not RPC. Missing fields are 0, offsets -1. */
bool rpc_message_parse(const uint8_t *p, size_t n, struct rpc_message *ret);

/* The key of a GlusterFS file: its inode number on clients is made of its gfid (16 bytes) that way.
 */
uint64_t rpc_gfid_key(const uint8_t gfid[16]);

/* The same from its text, "6ba7b810-9dad-11d1-80b4-00c04fd430c8", by which servers call files; 0:
 * it is none. */
uint64_t rpc_gfid_text_key(const char *text);

#endif
