/* Numbers as text that reads back as the same number. */
#ifndef REPORT_NUMBER_H
#define REPORT_NUMBER_H

#define NUMBER_TEXT_MAX 32

/* The shortest decimal that reads back as the same number, or "nan", "inf", "-inf". It is fast,
 * because a table of a day has hundreds of millions of values. Returns `buf`. */
const char *number_format(double value, char buf[NUMBER_TEXT_MAX]);

#endif
