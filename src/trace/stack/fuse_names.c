#include "trace/stack/fuse_names.h"

#include "base/array.h"
#include "model/span.h"
#include <linux/fuse.h>

static const struct {
	const char *name;
	uint8_t op;
} operations[] = {
	[FUSE_LOOKUP] = {"LOOKUP", SPAN_META},
	[FUSE_GETATTR] = {"GETATTR", SPAN_META},
	[FUSE_SETATTR] = {"SETATTR", SPAN_META},
	[FUSE_READLINK] = {"READLINK", SPAN_META},
	[FUSE_SYMLINK] = {"SYMLINK", SPAN_META},
	[FUSE_MKNOD] = {"MKNOD", SPAN_META},
	[FUSE_MKDIR] = {"MKDIR", SPAN_META},
	[FUSE_UNLINK] = {"UNLINK", SPAN_META},
	[FUSE_RMDIR] = {"RMDIR", SPAN_META},
	[FUSE_RENAME] = {"RENAME", SPAN_META},
	[FUSE_LINK] = {"LINK", SPAN_META},
	[FUSE_OPEN] = {"OPEN", SPAN_OPEN},
	[FUSE_READ] = {"READ", SPAN_READ},
	[FUSE_WRITE] = {"WRITE", SPAN_WRITE},
	[FUSE_STATFS] = {"STATFS", SPAN_META},
	[FUSE_RELEASE] = {"RELEASE", SPAN_CLOSE},
	[FUSE_FSYNC] = {"FSYNC", SPAN_SYNC},
	[FUSE_SETXATTR] = {"SETXATTR", SPAN_META},
	[FUSE_GETXATTR] = {"GETXATTR", SPAN_META},
	[FUSE_LISTXATTR] = {"LISTXATTR", SPAN_META},
	[FUSE_REMOVEXATTR] = {"REMOVEXATTR", SPAN_META},
	[FUSE_FLUSH] = {"FLUSH", SPAN_CLOSE},
	[FUSE_INIT] = {"INIT", SPAN_OTHER},
	[FUSE_OPENDIR] = {"OPENDIR", SPAN_META},
	[FUSE_READDIR] = {"READDIR", SPAN_META},
	[FUSE_RELEASEDIR] = {"RELEASEDIR", SPAN_META},
	[FUSE_FSYNCDIR] = {"FSYNCDIR", SPAN_META},
	[FUSE_GETLK] = {"GETLK", SPAN_META},
	[FUSE_SETLK] = {"SETLK", SPAN_META},
	[FUSE_SETLKW] = {"SETLKW", SPAN_META},
	[FUSE_ACCESS] = {"ACCESS", SPAN_META},
	[FUSE_CREATE] = {"CREATE", SPAN_OPEN},
	[FUSE_IOCTL] = {"IOCTL", SPAN_OTHER},
	[FUSE_POLL] = {"POLL", SPAN_OTHER},
	[FUSE_FALLOCATE] = {"FALLOCATE", SPAN_META},
	[FUSE_READDIRPLUS] = {"READDIRPLUS", SPAN_META},
	[FUSE_RENAME2] = {"RENAME2", SPAN_META},
	[FUSE_LSEEK] = {"LSEEK", SPAN_META},
	[FUSE_COPY_FILE_RANGE] = {"COPY_FILE_RANGE", SPAN_OTHER},
};

const char *fuse_name(unsigned opcode)
{
	return opcode < ARRAY_SIZE(operations) && operations[opcode].name ? operations[opcode].name
									  : "";
}

uint8_t fuse_op(unsigned opcode)
{
	return opcode < ARRAY_SIZE(operations) ? operations[opcode].op : SPAN_OTHER;
}
