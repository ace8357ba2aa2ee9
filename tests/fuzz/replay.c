/* Runs a fuzz target over every file of a corpus directory. */
#include "fuzz.h"

#include "base/cleanup.h"
#include "base/file.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static int replay_file(const char *dir, const char *name)
{
	_cleanup_free_ char *path = NULL, *data = NULL;
	struct lp_err err = {0};
	size_t size;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return -1;
	if (file_slurp(path, 1 << 26, &data, &size, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return -1;
	}
	LLVMFuzzerTestOneInput((const uint8_t *)data, size);
	return 0;
}

int main(int argc, char **argv)
{
	struct dirent **entries;
	int n, done = 0;

	if (argc != 2)
		return 2;
	n = scandir(argv[1], &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		if (entries[i]->d_name[0] != '.' && replay_file(argv[1], entries[i]->d_name) == 0)
			done++;
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	printf("%d inputs replayed from %s\n", done, argv[1]);
	return done ? 0 : 1; /* an empty corpus tests nothing */
}
