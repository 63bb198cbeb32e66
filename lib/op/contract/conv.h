/* SPDX-License-Identifier: Apache-2.0
   Geometry of a convolution along one axis, from the call's attributes: which pixels a tap meets. The three
   convolutions share it, on host and device. */
#ifndef HU_OP_CONV_H
#define HU_OP_CONV_H

#include "lib/base/status.h"
#include "lib/op/call.h"

enum { HU_AXIS_HEIGHT, HU_AXIS_WIDTH };

/* Output o and tap t meet pixel o stride + t dilation - before of n; a pixel outside 0 .. n-1 is +0. */
typedef struct hu_conv_axis { size_t n, taps, stride, dilation, out; ptrdiff_t before; } hu_conv_axis;

/* The attributes that every convolution takes beside its own. */
#define HU_CONV_ATTRS                                                                                                  \
	"stride stride_h stride_w padding padding_top padding_bottom padding_left padding_right dilation dilation_h "  \
	"dilation_w groups"

/* Axis AXIS of N pixels under a kernel of TAPS. stride, padding and dilation hold for both axes, what names an axis or
   a side goes before them. Without any padding it is TensorFlow's SAME: ceil(n/stride) outputs, and of the pixels that
   are missing the smaller half before the image. With some, floor((n + before + after - (taps-1) dilation - 1)/stride)
   + 1 outputs, as PyTorch has it. HU_EINVAL, and 0 outputs, where the kernel does not fit into the padded axis. */
hu_status hu_conv_axis_of(hu_conv_axis *a, const hu_call *c, int axis, size_t n, size_t taps);

/* A data gradient's pixels along an axis, those of one residue class: pixels first, first + stride, …, PIXELS of them,
   meet the same TAPS taps, tap0, tap0 + step, …, whose distance from the pixel the stride divides. The others are
   skipped. */
typedef struct hu_conv_class { size_t pixels, taps, tap0, step; } hu_conv_class;

/* How many classes have a pixel: the stride, or the axis' pixels where these are fewer. */
size_t hu_conv_classes(const hu_conv_axis *a);
/* Class I, whose first pixel is I. */
hu_conv_class hu_conv_class_of(const hu_conv_axis *a, size_t i);
#endif
