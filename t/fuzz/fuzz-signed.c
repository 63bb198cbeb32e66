/* SPDX-License-Identifier: Apache-2.0
   What targets share whose files have a checksum: it is made right, so that what lies behind it is reached. */
#include "t/fuzz/fuzz.h"

#include "lib/base/bug.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

char *
fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	HU_ASSERT(text);
	memcpy(text, data, size);
	text[size] = 0;
	return text;
}

int
fuzz_signed(int (*target)(const uint8_t *, size_t), const uint8_t *data, size_t size)
{
	static const char mark[] = "\n# xxh3: ";
	char *text = fuzz_text(data, size), *at = strstr(text, mark), *end = at ? strchr(at + 1, '\n') : NULL, hex[17];
	int taken;

	if (!end || end - at != (ptrdiff_t)strlen(mark) + 16) {
		taken = target(data, size);
	} else {
		char *rest = fuzz_text(data, size);
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
