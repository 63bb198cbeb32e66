/* SPDX-License-Identifier: Apache-2.0
   Any bytes as a baseline: refused in one line, or a file each of whose rows says one thing. Links libhalfulp.a and
   fuzz-signed.c. */
#include "t/fuzz/fuzz.h"

#include "analyzers/drift/baseline/baseline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether the row at LINE, whose end is a zero now, says one thing: its hex is its value, its tolerances are finite. */
static int
one_thing(char *line)
{
	char *cell[8], *end;
	int n = 0;

	for (char *s = line; s && n < 8; n++) {
		cell[n] = s;
		if ((s = strchr(s, '\t')))
			*s++ = 0;
	}
	if (n != 7 || !*cell[0])
		return 0;
	double value = strtod(cell[1], &end), bits, ulps = atof(cell[5]), tolerance = atof(cell[6]);
	int number = end != cell[1] && !*end && isfinite(value) && !strpbrk(cell[1], "xX");
	if (!number)
		return !strcmp(cell[2], "-");
	bits = strtod(cell[2], &end);
	return strchr(cell[2], 'x') && !*end && !memcmp(&bits, &value, sizeof bits) && ulps >= 0 && isfinite(ulps) &&
	       tolerance >= 0 && isfinite(tolerance);
}

FUZZ_SIGNED_TARGET(baseline)
{
	hu_baseline b;
	char *text = fuzz_text(data, size);

	if (hu_baseline_parse(&b, "fuzz", fuzz_text(data, size), size) != HU_OK) {
		HU_ASSERT(*hu_reason() && !strchr(hu_reason(), '\n'));
		free(text);
		return 0;
	}
	size_t rows = 0;
	int head = 1;
	for (char *s = text, *next; *s; s = next) {
		char *nl = strchr(s, '\n');
		next = nl ? nl + 1 : s + strlen(s);
		if (nl)
			*nl = 0;
		if (*s == '#')
			continue;
		HU_ASSERT(head || one_thing(s));
		rows += !head;
		head = 0;
	}
	HU_ASSERT(rows == b.n && strlen(text) <= size);
	for (size_t i = 0; i < b.n; i++)
		HU_ASSERT(*b.q[i].key && b.q[i].ulps >= 0 && b.q[i].tolerance >= 0 && isfinite(b.q[i].tolerance) &&
			  (!i || strcmp(b.q[i - 1].key, b.q[i].key) < 0));
	hu_baseline_release(&b);
	free(text);
	return 1;
}
