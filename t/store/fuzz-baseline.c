/* SPDX-License-Identifier: Apache-2.0
   Any bytes as a baseline: refused in one line, or a file each of whose rows says one thing; and targets whose files
   are given a checksum that is right. Links libhalfulp.a. */
#include "t/store/fuzz.h"

#include "analyzers/check/baseline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* A copy in memory of its own, as a file is read. */
static char *
text_of(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	HU_ASSERT(text);
	memcpy(text, data, size);
	text[size] = 0;
	return text;
}

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
	double value = strtod(cell[1], &end), bits, ulps = atof(cell[5]), noise = atof(cell[6]);
	int number = end != cell[1] && !*end && isfinite(value) && !strpbrk(cell[1], "xX");
	if (!number)
		return !strcmp(cell[2], "-");
	bits = strtod(cell[2], &end);
	return strchr(cell[2], 'x') && !*end && !memcmp(&bits, &value, sizeof bits) && ulps >= 0 && isfinite(ulps) &&
	       noise >= 0 && isfinite(noise);
}

FUZZ_TARGET(baseline)
{
	hu_baseline b;
	char *text = text_of(data, size);

	if (hu_baseline_parse(&b, "fuzz", text_of(data, size), size) != HU_OK) {
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
		HU_ASSERT(*b.q[i].key && b.q[i].ulps >= 0 && b.q[i].noise >= 0 && isfinite(b.q[i].noise) &&
			  (!i || strcmp(b.q[i - 1].key, b.q[i].key) < 0));
	hu_baseline_release(&b);
	free(text);
	return 1;
}

int
fuzz_signed(int (*target)(const uint8_t *, size_t), const uint8_t *data, size_t size)
{
	static const char mark[] = "\n# xxh3: ";
	char *text = text_of(data, size), *at = strstr(text, mark), *end = at ? strchr(at + 1, '\n') : NULL, hex[17];
	int taken;

	if (!end || end - at != (ptrdiff_t)strlen(mark) + 16) {
		taken = target(data, size);
	} else {
		char *rest = text_of(data, size);
		size_t before = (size_t)(at + 1 - text), after = (size_t)(end + 1 - text);
		memmove(rest + before, rest + after, size - after);
		snprintf(hex, sizeof hex, "%016llx", (unsigned long long)XXH3_64bits(rest, size - (after - before)));
		memcpy(at + strlen(mark), hex, 16);
		free(rest);
		taken = target((const uint8_t *)text, size);
	}
	free(text);
	return taken;
}

int
fuzz_baseline_signed(const uint8_t *data, size_t size)
{
	return fuzz_signed(fuzz_baseline, data, size);
}

int
fuzz_scores_signed(const uint8_t *data, size_t size)
{
	return fuzz_signed(fuzz_scores, data, size);
}

int
fuzz_statistics_signed(const uint8_t *data, size_t size)
{
	return fuzz_signed(fuzz_statistics, data, size);
}
