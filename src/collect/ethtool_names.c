#include "collect/ethtool_names.h"

#include "base/array.h"
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Does the name contain any of the words? */
static bool has_any(const char *name, const char *const *words)
{
	for (; *words; words++) {
		if (strcasestr(name, *words))
			return true;
	}
	return false;
}

/* Is it a single queue, channel or priority? Then its name has a number that is not a packet
 * size. */
static bool is_of_queue(const char *name)
{
	if (strcasestr(name, "queue") || strcasestr(name, "ring") || strstr(name, "["))
		return true;
	for (const char *p = name; *p; p++) {
		if (isdigit((unsigned char)*p) && (p[1] == '_' || p[1] == '.' || p[1] == '-'))
			return true;
	}
	return false;
}

static bool is_sent(const char *name)
{
	return strcasestr(name, "tx") || strcasestr(name, "xmit") || strcasestr(name, "transmit");
}

int ethtool_parse_name(const char *name)
{
	static const char *const crc[] = {"crc", "fcs", NULL};
	static const char *const pause[] = {"pause", "flow_control", "xoff", NULL};
	static const char *const not_frames[] = {"duration", "transition", "xon", "storm", NULL};
	static const char *const drop[] = {"drop", "discard", "missed", "no_buf", "nobuf",
		"out_of_buffer", "no_dma", "over_err", "fifo_err", NULL};
	static const char *const meant[] = {"xdp", "vlan", "filter", "fdir", "multicast", NULL};

	if (has_any(name, crc))
		return is_of_queue(name) ? -1 : LINK_CRC_ERRORS;
	if (has_any(name, pause)) {
		if (is_of_queue(name) || has_any(name, not_frames))
			return -1;
		return is_sent(name) ? LINK_PAUSE_TX : LINK_PAUSE_RX;
	}
	if (!has_any(name, drop) || has_any(name, meant))
		return -1;
	if (is_of_queue(name))
		return LINK_QUEUE_DROPS;
	return is_sent(name) ? LINK_TX_DROPS : LINK_RX_DROPS;
}
