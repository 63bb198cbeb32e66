/* SPDX-License-Identifier: Apache-2.0
   Geometry of pooling windows: which elements a window covers, and which windows cover an element. Host and device;
   hu_pool_of is for the host only. */
#ifndef HU_OP_WINDOW_H
#define HU_OP_WINDOW_H

#include "lib/op/contract/conv.h"

/* The attributes that every pooling operator accepts besides its own. */
#define HU_POOL_ATTRS                                                                                                  \
	"size size_h size_w stride stride_h stride_w padding padding_top padding_bottom padding_left padding_right "   \
	"dilation dilation_h dilation_w ceil"

/* A pooling call on n images of c channels. The taps of an axis are the elements of a window along it; end_h and end_w
   are the first coordinates behind the padding. */
typedef struct hu_pool { size_t n, c; hu_conv_axis row, col; ptrdiff_t end_h, end_w; } hu_pool;

/* Sets *p for a call on an image of shape x. The attribute size (2) is the window's extent, stride by default the same;
   size_h, size_w and so on say it for one axis. Stride, dilation and padding are those of convolutions (conv.h): SAME
   without a padding attribute. With ceil=1 the last window may reach beyond the padding if it begins before the image
   ends or in the padding before it, as in PyTorch. HU_EINVAL if the attributes do not fit the image, or a window would
   cover no element. */
hu_status hu_pool_of(hu_pool *p, const hu_call *c, hu_shape x);

/* Sets the elements *from, *from + dilation, … below *to that window o covers along an axis. */
HU_HD void
hu_window_span(const hu_conv_axis *a, size_t o, size_t *from, size_t *to)
{
	ptrdiff_t step = (ptrdiff_t)a->dilation, first = (ptrdiff_t)(o * a->stride) - a->before,
		  last = first + (ptrdiff_t)(a->taps - 1) * step + 1;

	if (first < 0)
		first += (-first + step - 1) / step * step;
	*from = (size_t)first;
	*to = last < 0 ? 0 : (size_t)last < a->n ? (size_t)last : a->n;
}

/* Sets the windows [*from, *to) that may cover element i of an axis; without a dilation all of them do. */
HU_HD void
hu_window_covering(const hu_conv_axis *a, size_t i, size_t *from, size_t *to)
{
	/* In the padded axis window o begins at o stride and has a last tap (taps - 1) dilation further. */
	size_t at = i + (size_t)a->before, reach = (a->taps - 1) * a->dilation + 1;

	*from = at < reach ? 0 : (at - reach) / a->stride + 1;
	*to = at / a->stride + 1 < a->out ? at / a->stride + 1 : a->out;
}

/* Returns 1 if a tap of window o, which hu_window_covering named, meets element i. */
HU_HD int
hu_window_meets(const hu_conv_axis *a, size_t o, size_t i)
{
	return (i + (size_t)a->before - o * a->stride) % a->dilation == 0;
}

/* How many taps of window o lie before the coordinate end, which is the axis' length or the padding's end; taps in the
   padding before the axis count only if padded is not 0. */
HU_HD size_t
hu_window_taps(const hu_conv_axis *a, size_t o, ptrdiff_t end, int padded)
{
	ptrdiff_t step = (ptrdiff_t)a->dilation, first = (ptrdiff_t)(o * a->stride) - a->before, all;

	all = end <= first ? 0 : (end - first + step - 1) / step;
	all = all < (ptrdiff_t)a->taps ? all : (ptrdiff_t)a->taps;
	return (size_t)(padded || first >= 0 ? all : all - (-first + step - 1) / step);
}

/* What an average over output o's window divides by. padded counts the padding's elements as well. */
HU_HD size_t
hu_pool_divisor(const hu_pool *p, size_t row, size_t col, int padded)
{
	return hu_window_taps(&p->row, row, padded ? p->end_h : (ptrdiff_t)p->row.n, padded) *
	       hu_window_taps(&p->col, col, padded ? p->end_w : (ptrdiff_t)p->col.n, padded);
}
#endif
