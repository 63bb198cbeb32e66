/* SPDX-License-Identifier: Apache-2.0
   Geometry of a convolution along one axis, from the call's attributes: which pixels a tap (an element of the kernel)
   meets. The three convolutions share it, on host and device. */
#ifndef HU_OP_CONV_H
#define HU_OP_CONV_H

#include "lib/base/status.h"
#include "lib/op/call.h"

enum { HU_AXIS_HEIGHT, HU_AXIS_WIDTH };

/* Output o and tap t meet pixel o stride + t dilation - before of n. A pixel outside 0 .. n-1 is +0. */
typedef struct hu_conv_axis { size_t n, taps, stride, dilation, out; ptrdiff_t before; } hu_conv_axis;

/* The attributes that every convolution accepts besides its own. */
#define HU_CONV_ATTRS                                                                                                  \
	"stride stride_h stride_w padding padding_top padding_bottom padding_left padding_right dilation dilation_h "  \
	"dilation_w groups"

/* Sets up an axis of n pixels under a kernel of taps elements. The attributes stride, padding and dilation apply to
   both axes; those that name an axis or a side override them. Without any padding attribute it is TensorFlow's SAME:
   ceil(n/stride) outputs, with the smaller half of the missing pixels before the image. With one, there are floor((n +
   before + after - (taps-1) dilation - 1)/stride) + 1 outputs, as in PyTorch. HU_EINVAL, and 0 outputs, if the kernel
   does not fit into the padded axis. */
hu_status hu_conv_axis_of(hu_conv_axis *a, const hu_call *c, int axis, size_t n, size_t taps);

/* Returns 1 if the call has a padding attribute. */
int hu_conv_is_padded(const hu_call *c);

/* The pixels of one residue class along an axis of a data gradient: pixels first, first + stride, …, pixels of them,
   all meet the same taps tap0, tap0 + step, …, because the stride must divide their distance. The other taps are
   skipped. */
typedef struct hu_conv_class { size_t pixels, taps, tap0, step; } hu_conv_class;

/* The number of classes that contain a pixel: the stride, or the number of pixels if that is smaller. */
size_t hu_conv_classes(const hu_conv_axis *a);
/* Class i, whose first pixel is i. */
hu_conv_class hu_conv_class_of(const hu_conv_axis *a, size_t i);
/* The most taps that any class meets, in time proportional to the taps, however large stride and image are. */
size_t hu_conv_most_taps(const hu_conv_axis *a);
/* How many pairs of a pixel and a tap the stride does not skip, in the same time. */
double hu_conv_pairs(const hu_conv_axis *a);
#endif
