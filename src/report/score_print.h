/* The score of verdicts as a table, as Markdown and as JSON. */
#ifndef REPORT_SCORE_PRINT_H
#define REPORT_SCORE_PRINT_H

#include "explain/score.h"
#include <stdio.h>

/* These return 0 or -ENOMEM. The board must be finished. */
int score_print_text(FILE *out, const struct score_board *b, bool colour);
int score_print_markdown(FILE *out, const struct score_board *b);
int score_print_json(FILE *out, const struct score_board *b, enum score_by by);

#endif
