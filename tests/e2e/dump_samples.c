/* dump_samples FILE...: the wall-clock time (us) of every sample, in the order of the files. */
#include <inttypes.h>
#include <limpet/archive.h>
#include <stdio.h>

static int dump(const char *path, struct lp_err *err)
{
	struct lp_source *source;
	struct lp_batch *batch;
	int r = lp_archive_open(path, NULL, NULL, &source, err);

	if (r < 0)
		return r;
	while ((r = lp_source_next(source, &batch, err)) > 0) {
		for (uint32_t i = batch->carry ? 1 : 0; i < batch->n_samples; i++)
			printf("%" PRId64 "\n", batch->wall_us[i]);
	}
	lp_source_close(source);
	return r;
}

int main(int argc, char **argv)
{
	struct lp_err err = {0};

	for (int i = 1; i < argc; i++) {
		if (dump(argv[i], &err) < 0) {
			fprintf(stderr, "dump_samples: %s\n", err.text);
			return 1;
		}
	}
	return 0;
}
