/* What messages of OrangeFS say: the header that BMI puts before each over TCP, the requests behind
 * it, and their answers. The bytes come from other programs, and may be anything.
 *
 * A client sends a request as an "unexpected" message with a tag. Everything else that belongs to
 * the request has the same tag: the first answer, the data of a large read or write (in messages of
 * their own, which have no header but BMI's), and the second answer, which ends a large write.
 */
#ifndef TRACE_BMI_MESSAGE_H
#define TRACE_BMI_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BMI_HEADER 24u /* bytes before each message */

struct bmi_message {
	bool is_request;
	uint64_t tag;
	int64_t size; /* of what is behind the header */
};

/* Read `n` bytes that begin with the header. False: they are not a message of BMI. */
bool bmi_message_parse(const uint8_t *p, size_t n, struct bmi_message *ret);

/* A request, and how much of its answer was seen. */
struct bmi_request {
	uint32_t number;  /* of the operation */
	const char *name; /* "" if it is not known */
	uint8_t op;	  /* enum span_op */
	uint64_t key;	  /* the server's file, 0: not known */
	/* The range of the server's file, and the place of its first byte in the client's file.
	 * Unknown offsets are -1. */
	int64_t offset, size, file_offset;
	/* The answer. */
	bool answered;	      /* the first part was seen */
	int64_t wants, moved; /* bytes of a large read that are to come, and that came */
	int64_t result;	      /* bytes, or 0; a negative errno where it failed */
};

/* The same bytes as above, of a message that is a request. False: it makes no sense. Where the head
 * is cut, or the file is distributed in another way than by simple_stripe, offsets are -1. */
bool bmi_request_parse(const uint8_t *p, size_t n, struct bmi_request *ret);

/* Take the next message that came back. 1: the answer is complete; 0: there is more to come;
 * -EBADMSG: it is no answer to this request. */
int bmi_answer_take(struct bmi_request *q, const uint8_t *p, size_t n);

/* The key of a file of a server by its name, "3fffffffffffff07.bstream"; 0: it is none. */
uint64_t bmi_file_key(const char *name);

#endif
