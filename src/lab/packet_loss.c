#include "lab/packet_loss.h"

#include "base/cleanup.h"
#include "lab/tool.h"
#include <errno.h>
#include <math.h>
#include <string.h>

#define TABLE "limpet_fault"
#define PARTS 10000 /* the unit of the share: hundredths of a percent */

int packet_loss_add(const struct lab_node *at, const char *about, const char *from, double percent,
	struct lp_err *err)
{
	char match[64];

	/* Not on the loopback interface: a server may communicate with itself. */
	snprintf(match, sizeof(match), from ? "ip saddr %s" : "iifname != lo", from);
	return tool_run_in(at->netns, err,
		"nft add table ip " TABLE "_%s ; "
		"add chain ip " TABLE "_%s input { type filter hook input priority -300 ; } ; "
		"add rule ip " TABLE "_%s input %s numgen random mod %u < %ld counter drop",
		about, about, about, match, PARTS, lround(percent * (PARTS / 100.0)));
}

int packet_loss_verify(const struct lab_node *at, const char *about, struct lp_err *err)
{
	_cleanup_free_ char *text = NULL;
	int r = tool_output(&text, err,
		"nsenter --net=/run/netns/%s nft list table ip " TABLE "_%s", at->netns, about);

	if (r < 0)
		return r;
	if (!strstr(text, "numgen random") || !strstr(text, "counter packets"))
		return lp_err_set(err, -ENOENT, "no rule in %s drops packets on behalf of %s",
			at->name, about);
	return 0;
}

int packet_loss_remove(const struct lab_node *at, const char *about, struct lp_err *err)
{
	char path[LAB_PATH_MAX];

	snprintf(path, sizeof(path), "/run/netns/%s", at->netns);
	if (access(path, F_OK) < 0)
		return 0;
	/* One transaction: adding an existing table changes nothing, so there is always a table to
	 * delete.
	 */
	return tool_run_in(at->netns, err,
		"nft add table ip " TABLE "_%s ; delete table ip " TABLE "_%s", about, about);
}
