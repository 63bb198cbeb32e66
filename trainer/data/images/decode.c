/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/data/images/decode.h"
#include "lib/base/guard/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

hu_status
hu_image_decode(hu_image *to, const char *path, size_t channels)
{
	static const unsigned char png[8] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };
	unsigned char first[8] = { 0 };
	FILE *f;
	hu_status st;

	memset(to, 0, sizeof *to);
	HU_TRY(hu_input_open(path, &f));
	size_t n = fread(first, 1, sizeof first, f);
	rewind(f);
	if (n >= 3 && first[0] == 0xff && first[1] == 0xd8 && first[2] == 0xff)
		st = hu_jpeg_decode(to, f, path, channels);
	else if (n == sizeof first && !memcmp(first, png, sizeof png))
		st = hu_png_decode(to, f, path, channels);
	else
		st = hu_fail(HU_EFILE, "%s: neither a JPEG nor a PNG image", path);
	fclose(f);
	if (st != HU_OK) {
		free(to->pixel);
		to->pixel = NULL;
	}
	return st;
}
