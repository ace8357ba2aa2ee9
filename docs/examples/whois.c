/* whois: who limps? The engine of limpet in a program of your own.
 *
 *     cc whois.c $(pkg-config --cflags --libs limpet) -o whois
 *     ./whois /var/lib/limpet
 */
#include <limpet/limpet.h>
#include <stdio.h>

static void print_warning(void *ctx, const char *text)
{
	(void)ctx;
	fprintf(stderr, "whois: %s\n", text);
}

static void print_suspects(const struct lp_verdict *v)
{
	for (uint32_t i = 0; i < v->n_suspects; i++) {
		const struct lp_suspect *s = &v->suspects[i];

		printf("%s: %s", v->components[s->component]->text, s->cause);
		for (uint32_t e = 0; e < s->n_evidence; e++)
			printf("; %s", s->evidence[e]);
		putchar('\n');
	}
	for (uint32_t i = 0; i < v->n_unknown; i++)
		printf("cannot tell: %s\n", v->unknown[i]);
	if (v->status == LP_STATUS_OK)
		printf("all well: %u components\n", v->n_components);
}

int main(int argc, char **argv)
{
	struct lp_warn warn = {.warn = print_warning};
	struct lp_diagnose_options options = {.warn = &warn};
	struct lp_dataset *data = NULL;
	struct lp_verdict *verdict = NULL;
	struct lp_err err = {0};
	int r, status;

	r = lp_dataset_open(
		(const char *const *)argv + 1, (size_t)argc - 1, NULL, NULL, &warn, &data, &err);
	if (r == 0)
		r = lp_diagnose(data, &options, &verdict, &err);
	if (r < 0)
		fprintf(stderr, "whois: %s\n", err.text);
	if (verdict) /* also where some of the data is damaged */
		print_suspects(verdict);
	status = !verdict ? 2 : verdict->status == LP_STATUS_UNKNOWN ? 4 : verdict->n_suspects > 0;
	lp_verdict_free(verdict);
	lp_dataset_close(data);
	return status;
}
