/* SPDX-License-Identifier: Apache-2.0
   An image in memory, and the decoders that make one of an open file. */
#ifndef HU_TRAINER_DATA_IMAGES_IMAGE_H
#define HU_TRAINER_DATA_IMAGES_IMAGE_H

#include "lib/base/status.h"

#include <stddef.h>
#include <stdio.h>

/* Pixels row by row from the top, `channels` bytes each: red, green, blue, or one of grey. */
typedef struct hu_image {
	size_t width, height, channels;
	unsigned char *pixel;
} hu_image;

/* A larger image is refused before its pixels are decoded: 2^26 pixels of three colours take 192 MiB. */
enum { HU_IMAGE_PIXELS = 1 << 26 };

/* Sets the sizes of `to` and allocates its pixels. HU_EFILE where there are none or too many, HU_ENOMEM. */
hu_status hu_image_make(hu_image *to, const char *path, size_t width, size_t height, size_t channels);

/* Decode a JPEG by libjpeg and a PNG by libpng, from the beginning of f. path names the file in messages. After a
   failure to->pixel may hold a part of the image; the caller frees it in any case. */
hu_status hu_jpeg_decode(hu_image *to, FILE *f, const char *path, size_t channels);
hu_status hu_png_decode(hu_image *to, FILE *f, const char *path, size_t channels);
#endif
