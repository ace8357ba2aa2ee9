#include "import/csv_steps.h"

#include "base/cleanup.h"

/* Fewer intervals do not show a step. */
#define SPANS_LEAST 4

/* The intervals between the samples of one component. */
struct steps {
	int64_t last_us;
	int64_t us; /* the interval that may be the most frequent one */
	uint32_t votes;
	uint32_t n, n_same; /* intervals; those that equal `us` */
	bool begun;
};

/* Majority vote: an interval with more than half of all votes is certain to win. */
static void steps_vote(struct steps *c, int64_t us)
{
	c->n++;
	if (!c->votes)
		c->us = us;
	c->votes += c->us == us ? 1 : (uint32_t)-1;
}

static void steps_count(struct steps *c, int64_t us)
{
	c->n_same += c->us == us;
}

static void rows_each_span(const struct csv_rows *rows, struct steps *steps, size_t n,
	void (*take)(struct steps *c, int64_t us))
{
	for (size_t i = 0; i < n; i++)
		steps[i].begun = false;
	for (size_t i = 0; i < rows->n; i++) {
		uint32_t row = rows->order[i];
		struct steps *c = &steps[rows->component[row]];

		if (c->begun && rows->wall_us[row] != c->last_us)
			take(c, rows->wall_us[row] - c->last_us);
		c->begun = true;
		c->last_us = rows->wall_us[row];
	}
}

/* The step of a component; 0: its samples are not regular. */
static int64_t step_of(const struct steps *c)
{
	return c->n >= SPANS_LEAST && c->n_same > c->n / 2 ? c->us : 0;
}

int64_t csv_steps_interval_us(const struct csv_rows *rows, const uint32_t *kinds,
	size_t n_components, size_t n_kinds, int64_t usual_us)
{
	_cleanup_free_ struct steps *steps = calloc(n_components + 1, sizeof(*steps));
	_cleanup_free_ bool *mixed = calloc(n_kinds + 1, sizeof(*mixed));
	int64_t longest = usual_us;

	if (!steps || !mixed)
		return usual_us;
	rows_each_span(rows, steps, n_components, steps_vote);
	rows_each_span(rows, steps, n_components, steps_count);
	for (size_t i = 0; i < n_components; i++) {
		int64_t us = step_of(&steps[i]);

		mixed[kinds[i]] |= us && us <= usual_us;
	}
	for (size_t i = 0; i < n_components; i++) {
		int64_t us = step_of(&steps[i]);

		if (mixed[kinds[i]] && us > longest && us <= CSV_STEP_MAX_US)
			longest = us;
	}
	return longest;
}
