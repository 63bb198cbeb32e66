/* SPDX-License-Identifier: Apache-2.0
   The characters of a text as a data set: how they are numbered, cut into samples and followed by one another, computed
   again here; what is no text is refused. */
#include "lib/base/status.h"
#include "t/tool/tap.h"
#include "trainer/data/data.h"

#include <stdio.h>
#include <string.h>

enum { LENGTH = 7, SAMPLES = 9, CHARACTERS = LENGTH * SAMPLES + 1 };

static hu_status
open_text(hu_dataset *ds, hu_dataset_options o, const unsigned char *text, size_t n)
{
	char name[512];

	snprintf(name, sizeof name, "text:%s/some.txt", test_dir());
	FILE *f = fopen(name + 5, "wb");
	if (!f || fwrite(text, 1, n, f) != n || fclose(f))
		bail_out("%s cannot be written", name + 5);
	return hu_dataset_open(ds, name, &o);
}

/* Letters, bytes above 127, and a last character that occurs nowhere else. The length is even, with one more odd. */
static void
numbered(size_t more)
{
	unsigned char text[CHARACTERS + 1];
	hu_dataset_options o = { .length = LENGTH, .split = SAMPLES - 2 };
	size_t n = CHARACTERS + more, wrong = 0, classes = 0;
	hu_dataset ds;

	for (size_t i = 0; i < n; i++)
		text[i] = "bca\xfftz\x01q"[(i * i + i / 8) % 8];
	text[n - 1 - more] = 'k';
	text[n - 1] = more ? '~' : 'k';
	if (open_text(&ds, o, text, n) != HU_OK)
		bail_out("%s", hu_reason());
	const hu_data_array *t = hu_dataset_find(&ds, "tokens"), *l = hu_dataset_find(&ds, "labels");
	for (int b = 0; b < 256; b++)
		classes += memchr(text, b, n) != NULL;
	ok(ds.n_train == SAMPLES - 2 && ds.n_eval == 2 && t->shape.d[0] == LENGTH && l->shape.d[0] == LENGTH,
		"%zu characters are %zu samples of %d", n, ds.n_train + ds.n_eval, LENGTH);
	ok(t->classes == classes && l->classes == classes, "of %zu classes, here %zu", t->classes, classes);
	for (size_t i = 0; i < LENGTH * SAMPLES; i++) {
		size_t below = 0, after = 0;
		for (int b = 0; b < 256; b++) {
			below += b < text[i] && memchr(text, b, n);
			after += b < text[i + 1] && memchr(text, b, n);
		}
		wrong += ((const unsigned char *)t->values)[i] != below;
		wrong += ((const unsigned char *)l->values)[i] != after;
	}
	ok(!wrong, "a character's number is how many smaller ones occur, its label the next one's: %zu wrong", wrong);
	hu_dataset_release(&ds);
}

static void
refused(const char *text, size_t n, const char *why)
{
	hu_dataset_options o = { .length = LENGTH };
	hu_dataset ds;

	hu_status st = open_text(&ds, o, (const unsigned char *)text, n);
	ok(st == HU_EFILE && strstr(hu_reason(), why), "%s: %s", why, hu_reason());
}

int
main(void)
{
	numbered(0);
	numbered(1);
	refused("abcdefgabcdefg", 14, "14 characters are too few for two samples of 7");
	refused("abcdefg\0abcdefgabcdefg", 22, "byte 7 is 0");
	return done_testing();
}
