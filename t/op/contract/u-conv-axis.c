/* SPDX-License-Identifier: Apache-2.0
   Which pixels and taps of a data gradient meet, counted pixel by pixel and tap by tap, against the closed forms; and a
   hostile stride on a hostile image, whose shape and cost must not be found by visiting every pixel. */
#include "lib/op/contract/conv.h"
#include "lib/op/op.h"
#include "t/tool/tap.h"

#include <signal.h>
#include <unistd.h>

/* Compares one axis with its definition: tap t meets pixel i if the stride divides i + before - t dilation. */
static int
agrees(const hu_conv_axis *a)
{
	size_t most = 0;
	double pairs = 0;

	for (size_t i = 0; i < a->n; i++) {
		size_t taps = 0;
		for (size_t t = 0; t < a->taps; t++)
			taps += ((long)i + (long)a->before - (long)(t * a->dilation)) % (long)a->stride == 0;
		most = taps > most ? taps : most;
		pairs += (double)taps;
	}
	if (most == hu_conv_most_taps(a) && pairs == hu_conv_pairs(a))
		return 1;
	diag("%zu pixels, %zu taps, stride %zu, dilation %zu, before %td: at most %zu taps (%zu found), %g pairs (%g)",
		a->n, a->taps, a->stride, a->dilation, a->before, most, hu_conv_most_taps(a), pairs, hu_conv_pairs(a));
	return 0;
}

static void
test_axes(void)
{
	int bad = 0, all = 0;

	for (size_t n = 1; n <= 7; n++)
		for (size_t taps = 1; taps <= 5; taps++)
			for (size_t stride = 1; stride <= 9; stride++)
				for (size_t dilation = 1; dilation <= 6; dilation++)
					for (ptrdiff_t before = 0; before <= 11; before++, all++) {
						hu_conv_axis a = { n, taps, stride, dilation, 1, before };
						bad += !agrees(&a);
					}
	ok(bad == 0, "the most taps of a pixel and the pairs of pixel and tap, on %d axes: %d wrong", all, bad);
}

static void
late(int signal)
{
	static const char text[] = "Bail out! the shape of a hostile conv2d_dx takes longer than 20 seconds\n";

	(void)signal;
	_exit(write(1, text, sizeof text - 1) > 0 ? 1 : 2);
}

static void
test_hostile(void)
{
	hu_call c = { .op = hu_op_find("conv2d_dx"), .nin = 2, .nout = 1 };
	hu_shape in[2] = { hu_shape4(1, 1, 1, 3), hu_shape4(3, 2, 5, 3) }, out = { 0 };
	double side = 0x1p30;
	hu_cost cost = { 0 };

	hu_attr_set(&c, "height", side);
	hu_attr_set(&c, "width", side);
	hu_attr_set(&c, "stride", side);
	signal(SIGALRM, late);
	alarm(20);
	ok(hu_op_shape(&c, in, &out) == HU_EINVAL, "%s", hu_reason());
	hu_attr_set(&c, "width", 4);
	hu_attr_set(&c, "stride_w", 2);
	ok(hu_op_shape(&c, in, &out) == HU_EINVAL, "%s", hu_reason());
	in[0] = hu_shape4(1, 1, 2, 3);
	out = (hu_shape){ 0 };
	ok(hu_op_shape(&c, in, &out) == HU_OK && out.d[1] == (size_t)side, "a stride as large as the image: %zu rows",
		out.d[1]);
	HU_COLUMN(c.op, cost)(&c, in, &out, &cost);
	alarm(0);
	/* Each of the three rows of taps meets one pixel row of the image, for no two taps the same. Of the two columns
	   of taps each meets every second of four pixel columns. Inputs of 5 channels, outputs of 3. */
	ok(cost.macs == 3 * (2 * 2) * 5 * 3, "its %g multiply-adds", cost.macs);
}

int
main(void)
{
	test_axes();
	test_hostile();
	return done_testing();
}
