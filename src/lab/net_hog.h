/* Traffic between a server and the third party, as fast as possible. */
#ifndef LAB_NET_HOG_H
#define LAB_NET_HOG_H

#include "lab/fault.h"
#include "lab/hog.h"

/* From the third party to the server, or in the other direction, over `n` connections. */
int net_hog_start(const struct hog *h, bool to_server, unsigned connections, struct lp_err *err);

/* Check that both ends run, and that bytes are transferred. */
int net_hog_verify(const struct hog *h, bool to_server, struct lp_err *err);

/* Define the fault `variable`, one for each direction. */
/* NOLINTBEGIN(bugprone-macro-parentheses): a name that is declared has none */
#define DEFINE_NET_HOG(variable, fault_name, to_server, text)                                      \
	static int inject(const struct lab *lab, const struct lab_node *on, double strength,       \
		struct lp_err *err)                                                                \
	{                                                                                          \
		const struct hog h = {lab, on, fault_name};                                        \
                                                                                                   \
		return net_hog_start(&h, to_server, (unsigned)strength, err);                      \
	}                                                                                          \
                                                                                                   \
	static int verify(const struct lab *lab, const struct lab_node *on, struct lp_err *err)    \
	{                                                                                          \
		const struct hog h = {lab, on, fault_name};                                        \
                                                                                                   \
		return net_hog_verify(&h, to_server, err);                                         \
	}                                                                                          \
                                                                                                   \
	static int heal(const struct lab *lab, const struct lab_node *on, struct lp_err *err)      \
	{                                                                                          \
		const struct hog h = {lab, on, fault_name};                                        \
                                                                                                   \
		return hog_stop(&h, err);                                                          \
	}                                                                                          \
                                                                                                   \
	extern const struct fault variable;                                                        \
	const struct fault variable = {                                                            \
		.name = fault_name,                                                                \
		.summary = text,                                                                   \
		.diagnosis = "network-hog",                                                        \
		.strength = "connections",                                                         \
		.strength_default = 1,                                                             \
		.strength_min = 1,                                                                 \
		.strength_max = 16,                                                                \
		.inject = inject,                                                                  \
		.verify = verify,                                                                  \
		.heal = heal,                                                                      \
	}
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
