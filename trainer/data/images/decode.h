/* SPDX-License-Identifier: Apache-2.0
   One file of an image, decoded to bytes. */
#ifndef HU_TRAINER_DATA_IMAGES_DECODE_H
#define HU_TRAINER_DATA_IMAGES_DECODE_H

#include "trainer/data/images/image.h"

/* Decodes the file at path, whose first bytes say whether it is a JPEG or a PNG. channels is 3 or 1: a grey image
   becomes three equal colours, a coloured one its luminance (as its own library defines it: JPEG's Y, or Rec. 709 for
   PNG). Transparency is dropped, 16-bit samples are scaled to 8 bits, and the orientation of EXIF is not applied: all
   as Pillow's convert('RGB') does. HU_EFILE names the file and what is wrong: no image, cut short, damaged or too
   large. The caller frees to->pixel. */
hu_status hu_image_decode(hu_image *to, const char *path, size_t channels);
#endif
