/* SPDX-License-Identifier: Apache-2.0
   The index map of causal and of its gradient: each row up to the diagonal of its matrix. */
#ifndef HU_CUDA_TRIANGLE_CUH
#define HU_CUDA_TRIANGLE_CUH

#include "cuda/move/hop.cuh"

struct hu_triangle {
	uint32_t rows, columns;
	hu_divisor by_rows, by_columns;

	HU_DEVICE_MEMBER hu_hop
	at(uint32_t i) const
	{
		uint32_t line = hu_quotient(i, by_columns), column = i - line * columns,
			 row = line - hu_quotient(line, by_rows) * rows;
		hu_hop h = { i, 1, 0, row + 1 > column ? row + 1 - column : 0, 1, 0 };

		return h;
	}
	HU_DEVICE_MEMBER uint32_t term(const hu_hop *h, uint32_t) const { return h->at; }
};

/* On the host: of matrices that are the last two axes of a tensor of shape s. */
static inline hu_triangle
hu_triangle_of(const hu_shape *s)
{
	hu_triangle t;

	t.rows = (uint32_t)s->d[s->rank - 2];
	t.columns = (uint32_t)hu_last(*s);
	t.by_rows = hu_divisor_of(t.rows);
	t.by_columns = hu_divisor_of(t.columns);
	return t;
}

/* Every piece of the source is a whole row of the result. */
static inline uint32_t
hu_triangle_neighbours(const hu_triangle *t)
{
	return t->columns % 8 == 0 ? 8 : t->columns % 4 == 0 ? 4 : 1;
}
#endif
