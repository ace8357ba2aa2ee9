#include "cli/command.h"

#include "base/cleanup.h"
#include "report/score_print.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct score_options {
	const char *truth, *by;
	bool json, markdown;
};

static const struct option_def options[] = {
	{"truth", 't', OPTION_STRING, offsetof(struct score_options, truth), "FILE",
		"the faults of each experiment: CSV with the columns "
		"verdict,component,cause,start,end"},
	{"by", 0, OPTION_STRING, offsetof(struct score_options, by), "UNIT",
		"what to judge: each component, or each observer (server) as in the papers [what "
		"the truth names]"},
	{"markdown", 0, OPTION_FLAG, offsetof(struct score_options, markdown), NULL,
		"print tables to paste into a document"},
	{"json", 0, OPTION_FLAG, offsetof(struct score_options, json), NULL, "print JSON"},
	{NULL},
};

static int usage_check(
	int n_args, const struct score_options *opt, enum score_by *ret_by, struct lp_err *err)
{
	if (n_args < 1)
		return lp_err_set(err, -EINVAL,
			"name the verdicts: files that 'limpet diagnose --json' printed");
	if (!opt->truth)
		return lp_err_set(err, -EINVAL, "--truth FILE is needed to judge verdicts");
	if (opt->json && opt->markdown)
		return lp_err_set(err, -EINVAL, "--json and --markdown exclude each other");
	if (!opt->by || !strcmp(opt->by, "component"))
		*ret_by = SCORE_BY_COMPONENT; /* without --by: until the truth is known */
	else if (!strcmp(opt->by, "observer"))
		*ret_by = SCORE_BY_OBSERVER;
	else
		return lp_err_set(
			err, -EINVAL, "--by: want component or observer, not '%.64s'", opt->by);
	return 0;
}

static int judge_file(const char *path, const struct score_truth *truth, enum score_by by,
	struct score_board *board, struct lp_err *err)
{
	_cleanup_(score_verdict_release) struct score_verdict v = {0};
	_cleanup_(score_case_release) struct score_case c = {0};
	int r = score_verdict_read(path, &v, err);

	if (r == 0)
		r = score_judge(truth, &v, path, by, &c, err);
	if (r == 0 && score_board_add(board, &c) < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot judge %s", path);
	return r;
}

/* Judge all verdicts; the last error stays in `err` for main, the others are printed. */
static int judge_all(char **paths, int n, const struct score_truth *truth, enum score_by by,
	struct score_board *board, struct lp_err *err)
{
	int worst = 0;

	for (int i = 0; i < n; i++) {
		struct lp_err here = {0};
		int r = judge_file(paths[i], truth, by, board, &here);

		if (r == 0)
			continue;
		if (worst < 0)
			command_complain("score", err->text);
		*err = here;
		worst = r;
	}
	score_board_finish(board);
	return worst;
}

static int print(const struct score_options *opt, const struct score_board *b, enum score_by by)
{
	if (opt->json)
		return score_print_json(stdout, b, by);
	if (opt->markdown)
		return score_print_markdown(stdout, b);
	return score_print_text(stdout, b, isatty(STDOUT_FILENO));
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct score_options *opt = values;
	_cleanup_(score_truth_release) struct score_truth truth = {0};
	_cleanup_(score_board_release) struct score_board board = {0};
	enum score_by by = SCORE_BY_COMPONENT;
	int r = usage_check(n_args, opt, &by, err);

	(void)data;
	if (r == 0)
		r = score_truth_read(opt->truth, &truth, err);
	if (r < 0)
		return command_exit_code(r);
	if (!opt->by && score_truth_names_observers(&truth))
		by = SCORE_BY_OBSERVER;
	r = judge_all(args, n_args, &truth, by, &board, err);
	if (board.total.n && print(opt, &board, by) < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot print the score");
	return command_exit_code(r);
}

static const struct example examples[] = {
	{"score runs/*.json --truth truth.csv", "how good the verdicts of a series are"},
	{"score runs/*.json --truth truth.csv --by observer --markdown",
		"a table of servers, as in the papers, to paste"},
	{NULL, NULL},
};

extern const struct command command_score;
const struct command command_score = {
	.name = "score",
	.summary = "compare verdicts with the truth: ITP, IFP, DTP, DFP, precision, recall",
	.usage = "[OPTION...] VERDICT... --truth FILE",
	.description =

		"Each VERDICT is a file that 'limpet diagnose --json' printed for one experiment. "
		"The truth is a CSV file with one line per fault: verdict (a file name or glob), "
		"component (a full name, a glob or an observer; empty if nothing was wrong), "
		"cause, "
		"start and end. If it names only observers, observers are judged. Other columns "
		"are "
		"allowed; 'diagnosis' lists the causes that are right, separated by |, if they "
		"differ from 'cause'.\n\n"
		"ITP is the percentage of experiments in which every faulty component was "
		"indicted, "
		"IFP that in which a healthy one was; DTP that in which all causes were right, DFP "
		"that in which a cause was wrong or a healthy component was indicted. Precision, "
		"recall and MCC count components (or observers). The delay from the start of a "
		"fault to its indictment is shown as a distribution.\n\n"
		"Warnings and absent components are not indictments and are counted separately: "
		"'warned' are faulty components that only a warning names, 'wrongly warned' "
		"healthy "
		"ones that a warning names, and 'absent' those that a verdict lists as missing "
		"although no fault says so.\n\n"
		"Verdicts that cannot be read are listed and left out; the exit status is then 2.",
	.options = options,
	.options_size = sizeof(struct score_options),
	.examples = examples,
	.run = run,
};
