/* SPDX-License-Identifier: Apache-2.0
   avgpool_dx: dx = dy / (height width) at every pixel of an image of that size. */
#include "cuda/element/map.cuh"

extern "C" hu_status
HU_SIDE(op_avgpool_dx)(hu_work *w)
{
	double pixels = hu_attr_num(w->call, "height", 0) * hu_attr_num(w->call, "width", 0);
	size_t channels = hu_last(w->in[0]->shape);
	hu_field m = hu_field_of(w, w->out[0]->n, channels);

	m.by_image = hu_divisor_of((uint32_t)(pixels * (double)channels));
	hu_field_in(&m, w->in[0], HU_AT_IMAGE);
	hu_field_out(w, &m, w->out[0]);
	m.nk = 1;
	m.k[0] = pixels;
	return hu_field_run<hu_divided>(w, &m);
}
