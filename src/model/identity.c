#include "model/identity.h"

#include <limpet/identity.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* One block of memory: the text, which ends with the name, then the other fields. */
struct shared_identity {
	struct lp_identity id; /* must be first: a pointer to it is a pointer to the whole struct */
	atomic_uint n_refs;
	char bytes[];
};

static char *bytes_put(char **at, const char *text, size_t len)
{
	char *put = *at;

	memcpy(put, text, len);
	put[len] = '\0';
	*at += len + 1;
	return put;
}

/* The fields, and the separators between them in the text. */
struct fields {
	const char *observer, *kind, *name, *labels;
	size_t n_observer, n_kind;
	const char *slash, *colon; /* "/" and ":", or "" if the text has none */
};

static struct lp_identity *identity_make(const struct fields *f)
{
	size_t n_name = strlen(f->name), n_labels = strlen(f->labels);
	size_t n_slash = strlen(f->slash), n_colon = strlen(f->colon);
	size_t n_kind_in_text = n_colon ? f->n_kind : 0;
	size_t n_before = f->n_observer + n_slash + n_kind_in_text + n_colon;
	struct shared_identity *s =
		malloc(sizeof(*s) + n_before + n_name + f->n_observer + f->n_kind + n_labels + 4);
	char *at = s ? s->bytes : NULL;

	if (!s)
		return NULL;
	atomic_init(&s->n_refs, 1);
	s->id.text = at;
	memcpy(at, f->observer, f->n_observer);
	at += f->n_observer;
	memcpy(at, f->slash, n_slash);
	at += n_slash;
	memcpy(at, f->kind, n_kind_in_text);
	at += n_kind_in_text;
	memcpy(at, f->colon, n_colon);
	at += n_colon;
	s->id.name = bytes_put(&at, f->name, n_name);
	s->id.observer = bytes_put(&at, f->observer, f->n_observer);
	s->id.kind = bytes_put(&at, f->kind, f->n_kind);
	s->id.labels = bytes_put(&at, f->labels, n_labels);
	return &s->id;
}

struct lp_identity *lp_identity_new(
	const char *observer, const char *kind, const char *name, const char *labels)
{
	return identity_make(&(struct fields){.observer = observer,
		.n_observer = strlen(observer),
		.slash = "/",
		.kind = kind,
		.n_kind = strlen(kind),
		.colon = ":",
		.name = name,
		.labels = labels ? labels : ""});
}

struct lp_identity *lp_identity_parse(const char *text)
{
	const char *slash = strchr(text, '/'), *kind = slash ? slash + 1 : text;
	const char *colon = strchr(kind, ':');

	return identity_make(&(struct fields){.observer = text,
		.n_observer = slash ? (size_t)(slash - text) : 0,
		.slash = slash ? "/" : "",
		.kind = kind,
		.n_kind = colon ? (size_t)(colon - kind) : strlen(kind),
		.colon = colon ? ":" : "",
		.name = colon ? colon + 1 : kind,
		.labels = ""});
}

struct lp_identity *lp_identity_ref(const struct lp_identity *id)
{
	struct shared_identity *s = (struct shared_identity *)id;

	if (!s)
		return NULL;
	atomic_fetch_add_explicit(&s->n_refs, 1, memory_order_relaxed);
	return &s->id;
}

void lp_identity_unref(struct lp_identity *id)
{
	struct shared_identity *s = (struct shared_identity *)id;

	if (s && atomic_fetch_sub_explicit(&s->n_refs, 1, memory_order_acq_rel) == 1)
		free(s);
}

void lp_identities_free(struct lp_identity **ids, uint32_t n)
{
	for (uint32_t i = 0; ids && i < n; i++)
		lp_identity_unref(ids[i]);
	free(ids);
}

bool lp_identity_label(const struct lp_identity *id, const char *key, char *buf, size_t size)
{
	return labels_get(id->labels, key, buf, size);
}

bool label_next(const char **at, struct label *ret)
{
	while (**at) {
		const char *line = *at;
		size_t len = strcspn(line, "\n");
		const char *equals = memchr(line, '=', len);

		*at += len + (line[len] == '\n');
		if (!equals)
			continue;
		*ret = (struct label){.key = line,
			.n_key = (size_t)(equals - line),
			.value = equals + 1,
			.n_value = (size_t)(line + len - equals - 1)};
		return true;
	}
	return false;
}

bool labels_get(const char *labels, const char *key, char *buf, size_t size)
{
	struct label l;

	while (label_next(&labels, &l)) {
		if (l.n_key != strlen(key) || memcmp(l.key, key, l.n_key) != 0)
			continue;
		snprintf(buf, size, "%.*s", (int)l.n_value, l.value);
		return true;
	}
	return false;
}

static const struct kind kinds[] = {
	{.name = "disk", .words = "disk", .resource = RESOURCE_STORAGE, .by_role = true},
	{.name = "lun", .resource = RESOURCE_STORAGE},
	{.name = "ost", .words = "OST", .resource = RESOURCE_STORAGE},
	{.name = "mdt", .words = "MDT", .resource = RESOURCE_STORAGE},
	{.name = "osc", .words = "OST of a client", .resource = RESOURCE_STORAGE},
	{.name = "osd", .words = "OSD", .resource = RESOURCE_STORAGE},
	{.name = "nsd", .words = "NSD", .resource = RESOURCE_STORAGE},
	{.name = "gpfs",
		.words = "GPFS file system",
		.resource = RESOURCE_STORAGE,
		.peers_by = PEERS_BY_NAME,
		.by_role = true},
	{.name = "beegfs", .words = "BeeGFS server", .resource = RESOURCE_STORAGE},
	{.name = "job", .words = "job", .resource = RESOURCE_OTHER, .peers_by = PEERS_BY_NAME},
	{.name = "drive", .words = "drive", .resource = RESOURCE_STORAGE},
	{.name = "raid", .words = "RAID array", .resource = RESOURCE_STORAGE},
	{.name = "path", .words = "multipath path", .resource = RESOURCE_STORAGE},
	{.name = "smart", .words = "NVMe drive", .resource = RESOURCE_STORAGE},
	{.name = "zpool", .words = "ZFS pool", .resource = RESOURCE_STORAGE},
	{.name = "dataset", .words = "ZFS dataset", .resource = RESOURCE_STORAGE},
	{.name = "power", .words = "power", .resource = RESOURCE_HOST, .peers_by = PEERS_BY_NAME},
	{.name = "sensor", .words = "sensor", .resource = RESOURCE_HOST, .peers_by = PEERS_BY_NAME},
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
	{.name = "ib",
		.words = "InfiniBand port",
		.resource = RESOURCE_NETWORK,
		.peers_by = PEERS_BY_COMMON_NAME,
		.by_role = true},
	{.name = "link",
		.words = "network adapter",
		.resource = RESOURCE_NETWORK,
		.peers_by = PEERS_BY_COMMON_NAME,
		.by_role = true},
	{.name = "lnet", .words = "LNet interface", .resource = RESOURCE_NETWORK, .by_role = true},
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
	{.name = "layer",
		.words = "layer",
		.peers_by = PEERS_BY_NAME,
		.by_role = true,
		.of_calls = true},
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
