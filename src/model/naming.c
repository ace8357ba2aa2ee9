#include "model/naming.h"

#include "base/array.h"
#include "model/hosts.h"
#include "model/identity.h"
#include <stdio.h>
#include <string.h>

#define LABEL_MAX 256

/* Pooled connections, and connections with one address. */
static bool add_connection(struct strbuf *sb, const struct lp_identity *component)
{
	struct connection c;

	if (!connection_parse(component, &c))
		return false;
	if (c.end == CONNECTION_REMOTE)
		strbuf_printf(sb, "TCP %s %s", c.out ? "to" : "from", c.address);
	else if (c.servers)
		strbuf_printf(sb, "TCP %s",
			c.end == CONNECTION_ALL ? "among servers" : "as other servers see it");
	/* Connections that a server accepted are `out` for the other side. */
	else if (c.end == CONNECTION_ALL)
		strbuf_printf(sb, "TCP %s", c.out ? "to servers" : "from clients");
	else
		strbuf_printf(sb, "TCP as %s see it", c.out ? "clients" : "servers");
	return true;
}

void naming_add_thing(struct strbuf *sb, const struct lp_identity *component)
{
	static const struct {
		const char *kind, *words;
	} kinds[] = {{"net", "interface"}, {"sys", "program"}, {"ost", "OST"}, {"mdt", "MDT"},
		{"osd", "OSD"}, {"lun", "LUN"}, {"ib", "InfiniBand port"}};

	if (!strcmp(component->kind, "host") || add_connection(sb, component))
		return;
	if (!strcmp(component->kind, "peer") && !strcmp(component->name, PEER_CLIENTS)) {
		strbuf_puts(sb, "requests as clients see them");
		return;
	}
	if (!strcmp(component->kind, "functions")) {
		strbuf_puts(sb, "functions");
		return;
	}
	if (!strcmp(component->kind, component->name)) { /* text of another form */
		strbuf_puts(sb, component->name);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(component->kind, kinds[i].kind)) {
			strbuf_printf(sb, "%s %s", kinds[i].words, component->name);
			return;
		}
	}
	strbuf_printf(sb, "%s %s", component->kind, component->name);
}

void naming_add(struct strbuf *sb, const struct lp_identity *component)
{
	struct strbuf thing = {0};

	naming_add_thing(&thing, component);
	strbuf_puts(sb, component->observer);
	if (thing.len && *component->observer)
		strbuf_puts(sb, ": ");
	if (thing.len)
		strbuf_puts(sb, thing.text);
	sb->failed |= thing.failed;
	strbuf_release(&thing);
}

void naming_add_part(struct strbuf *sb, const char *part)
{
	const char *colon = strchr(part, ':');

	if (!colon)
		strbuf_puts(sb, part);
	else if (!strncmp(part, "observer:", strlen("observer:")) ||
		!strncmp(part, "remote:", strlen("remote:")))
		strbuf_puts(sb, colon + 1);
	else
		strbuf_printf(sb, "%.*s %s", (int)(colon - part), part, colon + 1);
}

bool naming_add_stable(struct strbuf *sb, const struct lp_identity *component)
{
	static const struct {
		const char *label, *words;
	} names[] = {
		{"mpath", "multipath "}, {"serial", "serial "}, {"by_id", ""}, {"model", "model "}};
	char value[LABEL_MAX];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		bool there = lp_identity_label(component, names[i].label, value, sizeof(value));

		if (!there && !strcmp(names[i].label, "by_id"))
			there = lp_identity_label(component, "wwid", value, sizeof(value));
		if (there && *value)
			strbuf_printf(sb, "%s%s%s", n++ ? ", " : "", names[i].words, value);
	}
	return n > 0;
}

void naming_add_quoted(struct strbuf *sb, const char *word)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "._:/@+=,%-";

	if (*word && !word[strspn(word, safe)]) {
		strbuf_puts(sb, word);
		return;
	}
	strbuf_putc(sb, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			strbuf_puts(sb, "'\\''");
		else
			strbuf_putc(sb, *word);
	}
	strbuf_putc(sb, '\'');
}
