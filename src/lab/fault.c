#include "lab/fault.h"

#include "base/cleanup.h"
#include "base/meant.h"
#include "base/strbuf.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_BYTES 32
#define NUMBER_MAX_BYTES 16

/* "a, b or c": all faults. */
static void names_of_faults(struct strbuf *sb)
{
	for (const struct fault *const *f = faults; *f; f++) {
		if (f != faults)
			strbuf_puts(sb, f[1] ? ", " : " or ");
		strbuf_puts(sb, (*f)->name);
	}
}

static int unknown_fault(const char *name, size_t len, struct lp_err *err)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};
	int shown = len < NAME_MAX_BYTES ? (int)len : NAME_MAX_BYTES;
	char word[NAME_MAX_BYTES + 1];
	struct meant m = {.word = word};

	snprintf(word, sizeof(word), "%.*s", shown, name);
	for (const struct fault *const *f = faults; *f; f++)
		meant_consider(&m, (*f)->name);
	names_of_faults(&sb);
	if (!len)
		return lp_err_set(err, -EINVAL, "name a fault: %s", sb.text ? sb.text : "");
	return lp_err_set(err, -EINVAL, "there is no fault '%s'%s (want %s)", word,
		meant_question(&m), sb.text ? sb.text : "");
}

static const struct fault *find_named(const char *text, size_t len)
{
	char name[NAME_MAX_BYTES];

	if (len >= sizeof(name))
		return NULL;
	memcpy(name, text, len);
	name[len] = '\0';
	return fault_find(name);
}

/* Plain digits with a point: strtod() would also accept "nan", "0x1p3" and blanks. */
static bool number_parse(const char *text, size_t len, double *ret)
{
	char buf[NUMBER_MAX_BYTES], *end;

	if (!len || len >= sizeof(buf) || strspn(text, "0123456789.") < len)
		return false;
	memcpy(buf, text, len);
	buf[len] = '\0';
	*ret = strtod(buf, &end);
	return end != buf && !*end;
}

static int parse_strength(
	const struct fault *f, const char *text, size_t len, double *ret, struct lp_err *err)
{
	int shown = len < NUMBER_MAX_BYTES ? (int)len : NUMBER_MAX_BYTES;
	double value;

	if (!f->strength)
		return lp_err_set(err, -EINVAL, "%s takes no strength", f->name);
	if (!number_parse(text, len, &value))
		return lp_err_set(err, -EINVAL, "%s: want a number (%s) after ':', not '%.*s'",
			f->name, f->strength, shown, text);
	if (value < f->strength_min || value > f->strength_max)
		return lp_err_set(err, -EINVAL, "%s: want %g to %g (%s), not %.*s", f->name,
			f->strength_min, f->strength_max, f->strength, shown, text);
	*ret = value;
	return 0;
}

/* "s" and a number without leading zeros: the name of a server, which may not exist. */
static bool is_server_name(const char *text)
{
	size_t digits = strspn(text + (*text == 's'), "0123456789");

	return *text == 's' && text[1] >= '1' && text[1] <= '9' && digits <= 2 && !text[1 + digits];
}

int fault_parse(const char *text, struct fault_spec *ret, struct lp_err *err)
{
	size_t name_len = strcspn(text, ":@");
	const char *rest = text + name_len;
	struct fault_spec s = {.fault = find_named(text, name_len)};
	int r = 0;

	if (!s.fault)
		return unknown_fault(text, name_len, err);
	s.strength = s.fault->strength_default;
	if (*rest == ':') {
		size_t len = strcspn(rest + 1, "@");

		r = parse_strength(s.fault, rest + 1, len, &s.strength, err);
		rest += 1 + len;
	}
	if (r < 0)
		return r;
	if (*rest == '@' && !is_server_name(rest + 1))
		return lp_err_set(err, -EINVAL,
			"%s: want a server (s1, s2, ...) after '@', not '%.16s'", s.fault->name,
			rest + 1);
	if (*rest == '@')
		snprintf(s.on, sizeof(s.on), "%s", rest + 1);
	*ret = s;
	return 0;
}

const char *fault_format(const struct fault_spec *spec, char buf[FAULT_TEXT_MAX])
{
	int n = snprintf(buf, FAULT_TEXT_MAX, "%s", spec->fault->name);

	if (spec->fault->strength)
		n += snprintf(buf + n, FAULT_TEXT_MAX - (size_t)n, ":%g", spec->strength);
	if (*spec->on)
		snprintf(buf + n, FAULT_TEXT_MAX - (size_t)n, "@%s", spec->on);
	return buf;
}

/* The server of the fault. */
static int spec_node(const struct lab *lab, const struct fault_spec *spec,
	const struct lab_node **ret, struct lp_err *err)
{
	const struct lab_node *node = lab_node(lab, spec->on);

	if (!*spec->on)
		return lp_err_set(err, -EINVAL, "%s: say on which server (s1 to s%u)",
			spec->fault->name, lab->config.n_servers);
	if (!node || node->role != LAB_SERVER)
		return lp_err_set(err, -EINVAL, "the lab %s has no server '%s': want s1 to s%u",
			lab->config.name, spec->on, lab->config.n_servers);
	*ret = node;
	return 0;
}

static char *note_path(const struct lab *lab, const struct lab_node *node, const struct fault *f,
	char buf[LAB_PATH_MAX])
{
	return lab_path(lab, buf, "run/%s-%s.fault", node->name, f->name);
}

/* Note that it is active, for `lab status` and for healing. -EEXIST if it is already noted. */
static int note_write(const struct lab *lab, const struct lab_node *node,
	const struct fault_spec *spec, struct lp_err *err)
{
	char path[LAB_PATH_MAX], text[FAULT_TEXT_MAX];
	_cleanup_close_ int fd = open(note_path(lab, node, spec->fault, path),
		O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0 && errno == EEXIST)
		return lp_err_set(err, -EEXIST, "%s is active on %s already: heal it first",
			spec->fault->name, node->name);
	if (fd < 0 || dprintf(fd, "%s\n", fault_format(spec, text)) < 0)
		return lp_err_sys(err, -errno, "cannot write %s", path);
	return 0;
}

static int heal_on(const struct lab *lab, const struct lab_node *node, const struct fault *f,
	struct lp_err *err)
{
	char path[LAB_PATH_MAX];
	int r = f->heal(lab, node, err);

	if (r < 0) {
		lp_err_prefix(err, "cannot heal %s on %s", f->name, node->name);
		return r;
	}
	unlink(note_path(lab, node, f, path));
	return 0;
}

int fault_inject(const struct lab *lab, const struct fault_spec *spec, struct lp_err *err)
{
	const struct lab_node *node = NULL;
	struct lp_err why = {0}, also = {0};
	int r = spec_node(lab, spec, &node, err);

	if (r == 0)
		r = note_write(lab, node, spec, err);
	if (r < 0)
		return r;
	r = spec->fault->inject(lab, node, spec->strength, &why);
	if (r == 0)
		r = spec->fault->verify(lab, node, &why);
	if (r == 0)
		return 0;
	if (heal_on(lab, node, spec->fault, &also) < 0)
		return lp_err_set(err, r,
			"cannot inject %s on %s: %.200s; nor can it be undone: %.200s",
			spec->fault->name, node->name, why.text, also.text);
	return lp_err_set(
		err, r, "cannot inject %s on %s: %s", spec->fault->name, node->name, why.text);
}

int fault_verify(const struct lab *lab, const struct fault_spec *spec, struct lp_err *err)
{
	const struct lab_node *node = NULL;
	int r = spec_node(lab, spec, &node, err);

	if (r == 0)
		r = spec->fault->verify(lab, node, err);
	if (r < 0)
		lp_err_prefix(err, "%s on %s is not active", spec->fault->name, spec->on);
	return r;
}

int fault_heal(const struct lab *lab, const struct fault_spec *spec, struct lp_err *err)
{
	const struct lab_node *node = NULL;
	int r = spec_node(lab, spec, &node, err);

	return r < 0 ? r : heal_on(lab, node, spec->fault, err);
}

/* Read a note; an incomplete one means the default strength. */
static bool note_read(const struct lab *lab, const struct lab_node *node, const struct fault *f,
	struct fault_spec *ret)
{
	char path[LAB_PATH_MAX], text[FAULT_TEXT_MAX] = "";
	struct fault_spec said = {0};
	_cleanup_fclose_ FILE *in = fopen(note_path(lab, node, f, path), "re");

	if (!in)
		return false;
	if (fgets(text, sizeof(text), in))
		text[strcspn(text, "\n")] = '\0';
	*ret = (struct fault_spec){.fault = f, .strength = f->strength_default};
	if (fault_parse(text, &said, NULL) == 0 && said.fault == f)
		ret->strength = said.strength;
	snprintf(ret->on, sizeof(ret->on), "%s", node->name);
	return true;
}

unsigned fault_active(const struct lab *lab, struct fault_spec *ret, unsigned max)
{
	unsigned n = 0;

	for (unsigned i = 0; i < lab->n_nodes; i++) {
		if (lab->nodes[i].role != LAB_SERVER)
			continue;
		for (const struct fault *const *f = faults; *f && n < max; f++) {
			if (note_read(lab, &lab->nodes[i], *f, &ret[n]))
				n++;
		}
	}
	return n;
}

/* Keep the first error. */
static void heal_next(const struct lab *lab, const struct lab_node *node, const struct fault *f,
	int *worst, struct lp_err *err)
{
	int r = heal_on(lab, node, f, *worst ? NULL : err);

	*worst = *worst ? *worst : r;
}

int fault_heal_all(const struct lab *lab, struct lp_err *err)
{
	struct fault_spec active[FAULT_ACTIVE_MAX];
	unsigned n = fault_active(lab, active, FAULT_ACTIVE_MAX);
	int worst = 0;

	/* Noted faults first, because checking everywhere takes longer. */
	for (unsigned i = 0; i < n; i++)
		heal_next(lab, lab_node(lab, active[i].on), active[i].fault, &worst, err);
	for (unsigned i = 0; i < lab->n_nodes; i++) {
		for (const struct fault *const *f = faults; *f; f++) {
			if (lab->nodes[i].role == LAB_SERVER)
				heal_next(lab, &lab->nodes[i], *f, &worst, err);
		}
	}
	return worst;
}
