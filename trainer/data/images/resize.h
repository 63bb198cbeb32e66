/* SPDX-License-Identifier: Apache-2.0
   Images of one size, as most who train on images make them: torchvision's Resize and CenterCrop of a Pillow image. */
#ifndef HU_TRAINER_DATA_IMAGES_RESIZE_H
#define HU_TRAINER_DATA_IMAGES_RESIZE_H

#include "trainer/data/images/image.h"

/* Writes the middle size x size pixels of `from`, whose shorter side was scaled to `size`, into `to`. The scaling is
   Pillow's bilinear one, bit for bit: a triangle as wide as an output pixel covers of the input, across and then down,
   each with weights of 22 bits and one rounding to 8. From version 13 on Pillow itself scales down before across where
   that is faster, which moves some bytes by one. */
void hu_image_fit(unsigned char *to, const hu_image *from, size_t size);
#endif
