/* SPDX-License-Identifier: Apache-2.0
   Any bytes as an image of 3 or of 1 channels: refused in one line, or pixels all of which can be read. */
#include "t/fuzz/fuzz.h"

#include "trainer/data/images/image.h"

#include <stdlib.h>
#include <string.h>

/* Keeps the reads from being optimised away. */
static volatile unsigned sink;

FUZZ_TARGET(image)
{
	int taken = 0;

	for (size_t channels = 1; channels <= 3 && size; channels += 2) {
		hu_image image = { .pixel = NULL };
		FILE *f = fmemopen((void *)(uintptr_t)data, size, "rb");
		hu_status st = HU_EFILE;
		if (f)
			st = (data[0] == 0xff ? hu_jpeg_decode : hu_png_decode)(&image, f, "fuzz", channels);
		if (f)
			fclose(f);
		HU_ASSERT(st == HU_OK || (*hu_reason() && !strchr(hu_reason(), '\n')));
		for (size_t i = 0; st == HU_OK && i < image.width * image.height * channels; i++)
			sink += image.pixel[i];
		free(image.pixel);
		taken |= st == HU_OK;
	}
	return taken;
}
