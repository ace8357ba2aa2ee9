/* OUT/truth.csv, from the accounts of all experiments in OUT. */
#include "lab/run_state.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* Names, causes and times have no commas or quotes; other text was not written by limpet. */
static void add_field(struct strbuf *sb, const char *text)
{
	if (!strpbrk(text, ",\"\r\n"))
		strbuf_puts(sb, text);
}

/* "slow-disk:2" if the strength is not the default, so that it is counted separately. */
static void add_cause(struct strbuf *sb, const json_t *fault)
{
	const json_t *strength = json_object_get(fault, "strength");

	add_field(sb, text_of(fault, "fault"));
	if (strength && !json_is_true(json_object_get(fault, "usual")))
		strbuf_printf(sb, ":%g", json_number_value(strength));
}

static void add_fault(struct strbuf *sb, const json_t *account, const json_t *fault)
{
	const char *const keys[] = {"diagnosis", "start", "end"};

	add_field(sb, text_of(account, "name"));
	strbuf_putc(sb, ',');
	add_field(sb, text_of(fault, "server"));
	strbuf_putc(sb, ',');
	add_cause(sb, fault);
	for (unsigned i = 0; i < 3; i++) {
		strbuf_putc(sb, ',');
		add_field(sb, text_of(fault, keys[i]));
	}
	strbuf_putc(sb, ',');
	add_field(sb, text_of(account, "workload"));
	strbuf_putc(sb, '\n');
}

/* Add the rows of one experiment; none for a disturbed one, or if the file is not an account. */
static void add_account(struct strbuf *sb, const char *out, const char *file)
{
	json_auto_t *json = NULL;
	char path[PATH_MAX];
	const json_t *all;

	if (snprintf(path, sizeof(path), "%s/%s", out, file) >= (int)sizeof(path))
		return;
	json = json_load_file(path, 0, NULL);
	all = json_object_get(json, "faults");
	if (!json_is_array(all) || !*text_of(json, "name") || !run_account_counts(json))
		return;
	for (size_t i = 0; i < json_array_size(all); i++)
		add_fault(sb, json, json_array_get(all, i));
	if (!json_array_size(all)) {
		add_field(sb, text_of(json, "name"));
		strbuf_puts(sb, ",,,,,,");
		add_field(sb, text_of(json, "workload"));
		strbuf_putc(sb, '\n');
	}
}

static int is_account(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 5 && !strcmp(entry->d_name + len - 5, ".json");
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

int run_truth_write(const char *out, struct lp_err *err)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};
	_cleanup_close_ int lock = open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent **entries = NULL;
	char path[PATH_MAX];
	int n;

	/* Other runs may write into the same directory, and the last one must see the results of
	 * all. */
	if (lock < 0 || flock(lock, LOCK_EX) < 0)
		return lp_err_sys(err, -errno, "cannot read %s", out);
	n = scandir(out, &entries, is_account, by_name);
	if (n < 0)
		return lp_err_sys(err, -errno, "cannot read %s", out);
	strbuf_puts(&sb, "verdict,component,cause,diagnosis,start,end,workload\n");
	for (int i = 0; i < n; i++) {
		add_account(&sb, out, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	snprintf(path, sizeof(path), "%s/truth.csv", out);
	if (sb.failed)
		return lp_err_sys(err, -ENOMEM, "cannot write %s", path);
	return run_file_write(path, sb.text, sb.len, err);
}
