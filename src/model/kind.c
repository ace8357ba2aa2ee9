#include "model/kind.h"

#include <stddef.h>
#include <strings.h>

static const struct kind kinds[] = {
	{.name = "disk", .words = "disk", .resource = RESOURCE_STORAGE, .by_role = true},
	{.name = "lun", .resource = RESOURCE_STORAGE},
	{.name = "ost", .resource = RESOURCE_STORAGE},
	{.name = "mdt", .resource = RESOURCE_STORAGE},
	{.name = "osd", .resource = RESOURCE_STORAGE},
	{.name = "brick", .resource = RESOURCE_STORAGE},
	{.name = "target", .resource = RESOURCE_STORAGE},
	{.name = "volume", .resource = RESOURCE_STORAGE},
	{.name = "host",
		.words = "host",
		.resource = RESOURCE_HOST,
		.apart = "cgroup",
		.by_role = true},
	{.name = "net",
		.words = "network interface",
		.resource = RESOURCE_NETWORK,
		.peers_by = PEERS_BY_COMMON_NAME,
		.by_role = true},
	{.name = "tcp",
		.words = "TCP peer",
		.resource = RESOURCE_NETWORK,
		.peers_by = PEERS_BY_END,
		.remade = true},
	{.name = "ib", .resource = RESOURCE_NETWORK},
	{.name = "link", .resource = RESOURCE_NETWORK},
	{.name = "sys",
		.words = "traced program",
		.peers_by = PEERS_BY_NAME,
		.by_role = true,
		.of_calls = true,
		.remade = true},
	{.name = "peer",
		.words = "traced server",
		.peers_by = PEERS_BY_END,
		.of_calls = true,
		.remade = true},
	{.name = "function",
		.words = "function",
		.peers_by = PEERS_BY_NAME,
		.of_calls = true,
		.remade = true},
	{.name = "functions",
		.words = "profile",
		.by_role = true,
		.of_calls = true,
		.remade = true},
};

const struct kind *kind_find(const char *name)
{
	static const struct kind other = {0};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcasecmp(kinds[i].name, name))
			return &kinds[i];
	}
	return &other;
}
