/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/expression/expr_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN = HU_EXPR_SHOWN - 7 };

const char *
hu_expr_shown(const char *all, int at, char *text)
{
	size_t n = strlen(all), from = at > SHOWN / 2 ? (size_t)at - SHOWN / 2 : 0, to;

	if (n <= SHOWN)
		return all;
	from = from > n - SHOWN ? n - SHOWN : from;
	to = from + SHOWN;
	while (from < to && (all[from] & 0xc0) == 0x80) /* do not cut a UTF-8 character in two */
		from++;
	while (to > from && (all[to] & 0xc0) == 0x80)
		to--;
	snprintf(
		text, HU_EXPR_SHOWN, "%s%.*s%s", from ? "..." : "", (int)(to - from), all + from, all[to] ? "..." : "");
	return text;
}

size_t
hu_expr_number_length(const char *s, int *hex, int *integer)
{
	size_t n = 0, digits = 0;

	*hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
	*integer = 1;
	n = *hex ? 2 : 0;
	for (; s[n] == '.' || (*hex ? isxdigit((unsigned char)s[n]) : isdigit((unsigned char)s[n])); n++) {
		if (s[n] == '.' && !*integer)
			break;
		if (s[n] == '.')
			*integer = 0;
		else
			digits++;
	}
	if (!digits)
		return 0;
	if (*hex ? s[n] == 'p' || s[n] == 'P' : s[n] == 'e' || s[n] == 'E') {
		size_t m = n + 1 + (s[n + 1] == '+' || s[n + 1] == '-');
		if (isdigit((unsigned char)s[m])) {
			*integer = 0;
			for (n = m; isdigit((unsigned char)s[n]); n++)
				;
		}
	}
	return n;
}
