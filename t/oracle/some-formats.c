/* SPDX-License-Identifier: Apache-2.0 */
#include "t/oracle/some-formats.h"

#include "t/tool/tap.h"

#include <stdio.h>
#include <string.h>

/* No significand bits, other biases, wide exponents, each word of a name; near fp64's ends. */
static const char *const names[] = { "e4m3b11fnuz", "e3m0finite", "e4m0fn", "e2m1ieee", "e3m4fn", "e1m6finite",
	"e5m2b3p3109", "e4m3sat", "e4m3nosub", "e4m3ftz", "e5m2ftzsat", "e5m2nosub", "e4m3fnuznosub", "e3m2ftz",
	"e2m3nosubsat", "binary4p2", "binary4p1u", "binary5p2uf", "binary6p3", "binary8p3nosub", "binary8p4uftz",
	"binary8p2usat", "e5m7", "fp16ftz", "fp16nosub", "bf16sat", "binary12p7", "binary15p10u", "e7m8fnuz",
	"e9m6b300fn", "e11m4", "e8m4fn", "e9m20", "e9m20nosub", "e11m40", "e11m51" };

static int
add(hu_format *out, int n, const char *name, int least, int most)
{
	hu_format_id id;
	hu_format f;

	if (hu_format_find(name, &id) != HU_OK)
		bail_out("%s", hu_reason());
	f = hu_format_of(id);
	for (int i = 0; i < n; i++)
		if (out[i].id == f.id)
			return n;
	if (f.bits < least || f.bits > most)
		return n;
	out[n] = f;
	return n + 1;
}

int
some_formats(hu_format out[SOME_FORMATS], int least, int most)
{
	static const char *const kinds[] = { "s", "sf", "u", "uf" };
	int n = 0;

	for (int i = 0; i < HU_FORMATS; i++)
		n = add(out, n, hu_format_name((hu_format_id)i), least, most);
	for (int kind = 0; kind < 4; kind++)
		for (int p = 1; p <= 7 + kind / 2; p++) {
			char name[24];
			snprintf(name, sizeof name, "binary8p%d%s", p, kinds[kind]);
			n = add(out, n, name, least, most);
		}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		n = add(out, n, names[i], least, most);
	return n;
}
