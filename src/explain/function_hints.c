/* The table of hints. A row is a shell pattern for the name of a function or of its image. The
 * first match counts, so the most specific patterns come first. */
#include "explain/function_hints.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

static const char locks[] = "locks", network[] = "the network", storage[] = "storage",
		  computation[] = "computation";

static const struct hint {
	const char *pattern, *is;
} functions[] = {
	{"*spin_lock*", locks},
	{"*mutex*", locks},
	{"futex*", locks},
	{"*rwsem*", locks},
	{"*_lock", locks},
	{"*lock_wait*", locks},
	{"tcp_*", network},
	{"ip_*", network},
	{"inet_*", network},
	{"skb_*", network},
	{"sock_*", network},
	{"socket_*", network},
	{"rpc*", network},
	{"napi_*", network},
	{"net_rx*", network},
	{"net_dev_*", network},
	{"netif_*", network},
	{"*_skb", network},
	{"dev_queue*", network},
	{"*sendmsg*", network},
	{"*recvmsg*", network},
	{"*_send", network},
	{"*_recv", network},
	{"bmi_*", network},
	{"BMI_*", network},
	{"blk_*", storage},
	{"block_rq_*", storage},
	{"bio_*", storage},
	{"submit_bio*", storage},
	{"iomap_*", storage},
	{"ext4_*", storage},
	{"xfs_*", storage},
	{"btrfs_*", storage},
	{"nvme_*", storage},
	{"scsi_*", storage},
	{"posix_*", storage},
	{"dbpf_*", storage},
	{"trove_*", storage},
	{"*pread*", storage},
	{"*pwrite*", storage},
	{"*readv", storage},
	{"*writev", storage},
	{"*fsync*", storage},
	{"filemap_*", storage},
	{"*writeback*", storage},
	{"io_schedule*", storage},
	{"memcpy*", computation},
	{"memset*", computation},
	{"*checksum*", computation},
	{"crc32*", computation},
	{"*sha256*", computation},
	{"*compress*", computation},
	{"*encrypt*", computation},
};

static const struct hint images[] = {
	{"ext4.ko", storage},
	{"xfs.ko", storage},
	{"nvme*.ko", storage},
	{"posix.so", storage},
	{"socket.so", network},
};

static const char *match(const struct hint *rows, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (!fnmatch(rows[i].pattern, name, 0))
			return rows[i].is;
	}
	return NULL;
}

const char *function_hint(const char *name)
{
	const char *image = strchr(name, ':'), *function = image ? strchr(image + 1, ':') : NULL;
	char text[64] = "";
	const char *found;

	found = match(functions, sizeof(functions) / sizeof(functions[0]),
		function	? function + 1
			: image ? image + 1
				: name);
	if (found || !function || (size_t)(function - image) > sizeof(text))
		return found;
	memcpy(text, image + 1, (size_t)(function - image - 1));
	return match(images, sizeof(images) / sizeof(images[0]), text);
}
