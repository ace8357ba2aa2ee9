/* Flame graphs. Each function is a box on top of its caller; its width is its share of the
 * samples. */
#include "report/functions.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "report/html.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 1200.0
#define BOX_HEIGHT 17
#define LETTER_WIDTH 6.6
/* Narrower boxes are invisible. */
#define BOX_LEAST 0.2
#define DEPTH_MAX 256
#define HEAD_HEIGHT 30

struct node {
	const char *name; /* `len` bytes, not NUL-terminated */
	size_t len;
	uint64_t n;
	uint32_t child, next; /* indexes; 0: none, because the root is not a child */
};

/* Node 0 is the root. */
struct tree {
	struct node *nodes;
	size_t n, cap;
	unsigned depth;
};

static uint32_t node_add(struct tree *t, const char *name, size_t len)
{
	if (t->n >= UINT32_MAX ||
		array_reserve(&t->nodes, &t->cap, t->n + 1, sizeof(*t->nodes)) < 0)
		return 0;
	t->nodes[t->n] = (struct node){.name = name, .len = len};
	return (uint32_t)t->n++;
}

/* The child with this name, in alphabetical order; 0: out of memory. */
static uint32_t child_get(struct tree *t, uint32_t parent, const char *name, size_t len)
{
	uint32_t before = 0, at = t->nodes[parent].child, new;

	while (at) {
		const struct node *c = &t->nodes[at];
		int order = strncmp(c->name, name, c->len < len ? c->len : len);

		if (order == 0 && c->len == len)
			return at;
		if (order > 0 || (order == 0 && c->len > len))
			break;
		before = at;
		at = c->next;
	}
	new = node_add(t, name, len);
	if (!new)
		return 0;
	t->nodes[new].next = at;
	if (before)
		t->nodes[before].next = new;
	else
		t->nodes[parent].child = new;
	return new;
}

/* Add a stack below a node: "dd;main;copy". */
static int stack_add(struct tree *t, uint32_t at, unsigned depth, const char *stack, uint64_t n)
{
	while (*stack && depth < DEPTH_MAX) {
		size_t len = strcspn(stack, ";");

		at = child_get(t, at, stack, len);
		if (!at)
			return -ENOMEM;
		t->nodes[at].n += n;
		depth++;
		stack += len + (stack[len] == ';');
	}
	if (depth > t->depth)
		t->depth = depth;
	return 0;
}

/* If there are several servers, each is a separate box. */
static int tree_make(struct tree *t, const struct functions_view *v)
{
	node_add(t, "all", 3);
	if (!t->n)
		return -ENOMEM;
	for (size_t i = 0; i < v->n; i++) {
		const struct functions_server *s = &v->servers[i];
		uint32_t root = 0;

		if (v->n > 1)
			root = child_get(t, 0, s->name, strlen(s->name));
		if (v->n > 1 && !root)
			return -ENOMEM;
		t->nodes[0].n += s->total;
		if (root)
			t->nodes[root].n += s->total;
		for (size_t k = 0; k < s->n_rows; k++) {
			if (stack_add(t, root, root ? 1 : 0, s->rows[k].name, s->rows[k].n) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

/* Warm colours, always the same for a name. */
static void colour_write(FILE *out, const char *name, size_t len)
{
	uint64_t h = hash_bytes(name, len);

	fprintf(out, "rgb(%u,%u,%u)", 205 + (unsigned)(h % 50), 90 + (unsigned)(h / 50 % 120),
		(unsigned)(h / 6000 % 60));
}

static void text_write(FILE *out, const char *name, size_t len, size_t max)
{
	_cleanup_free_ char *copy = strndup(name, len < max ? len : max);

	if (copy)
		html_write(out, copy);
	if (len > max)
		fputs("..", out);
}

static void box_write(
	FILE *out, const struct tree *t, const struct node *b, double x, unsigned level)
{
	double all = (double)t->nodes[0].n, width = WIDTH * (double)b->n / all;
	unsigned y = HEAD_HEIGHT + (t->depth - level) * BOX_HEIGHT;
	size_t room = (size_t)(width / LETTER_WIDTH);

	fprintf(out, "<g><rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" rx=\"1\" fill=\"",
		x, y, width, BOX_HEIGHT - 1);
	colour_write(out, b->name, b->len);
	fputs("\"/><title>", out);
	text_write(out, b->name, b->len, SIZE_MAX);
	fprintf(out, " (%" PRIu64 " samples, %.2f%%)</title>", b->n, 100 * (double)b->n / all);
	if (room >= 3) {
		fprintf(out, "<text x=\"%.2f\" y=\"%u\">", x + 3, y + BOX_HEIGHT - 5);
		text_write(out, b->name, b->len, room < b->len + 2 ? room - 2 : b->len);
		fputs("</text>", out);
	}
	fputs("</g>\n", out);
}

static void boxes_write(FILE *out, const struct tree *t, uint32_t at, double x, unsigned level)
{
	const struct node *b = &t->nodes[at];

	if (WIDTH * (double)b->n / (double)t->nodes[0].n < BOX_LEAST)
		return;
	box_write(out, t, b, x, level);
	for (uint32_t c = b->child; c; c = t->nodes[c].next) {
		boxes_write(out, t, c, x, level + 1); /* at most DEPTH_MAX deep */
		x += WIDTH * (double)t->nodes[c].n / (double)t->nodes[0].n;
	}
}

int functions_flame(FILE *out, const struct functions_view *v)
{
	struct tree t = {0};
	int r = tree_make(&t, v);

	if (r == 0) {
		unsigned height = HEAD_HEIGHT + (t.depth + 1) * BOX_HEIGHT + 10;

		fprintf(out,
			"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
			"viewBox=\"0 0 %d %u\" font-family=\"monospace\" font-size=\"11\">\n"
			"<style>rect:hover{stroke:#000}text{pointer-events:none}</style>\n"
			"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
			"<text x=\"3\" y=\"18\" font-size=\"14\">%" PRIu64
			" samples; widths are shares, callers are below</text>\n",
			(int)WIDTH, height, (int)WIDTH, height, t.nodes[0].n);
		if (t.nodes[0].n)
			boxes_write(out, &t, 0, 0, 0);
		fputs("</svg>\n", out);
	}
	free(t.nodes);
	return r;
}
