/* SPDX-License-Identifier: Apache-2.0
   batchnorm: y = (x - mean) / sqrt(var + eps) gamma + beta with each channel's own statistics over the batch, which
   also update the running statistics. There are two passes down the rows, one over the channels after each, and one
   that applies the statistics. */
#include "cuda/element/norm.cuh"
#include "cuda/element/scalar.cuh"

/* constants: eps, momentum, hu_norm_rest, rows; operands: a channel's sum, and the running statistic before the step */
enum { EPS, MOMENTUM, REST, ROWS, CONSTANTS };

#define MEAN(S, T)                                               \
	do {                                                     \
		T mean = hu_quotient##S(c, in[0][i], c->k[ROWS]); \
		out[0][i] = mean;                                \
		out[1][i] = mean;                                \
		out[2][i] = hu_blend##S(c, in[1][i], mean);      \
	} while (0)
#define SPREAD(S, T)                                            \
	do {                                                    \
		T var = hu_quotient##S(c, in[0][i], c->k[ROWS]); \
		out[0][i] = hu_norm_rstd##S(c, var);            \
		out[1][i] = out[0][i];                          \
		out[2][i] = hu_blend##S(c, in[1][i], var);      \
	} while (0)
HU_FORMULA(mean_of, 2, 3, MEAN)
HU_FORMULA(spread_of, 2, 3, SPREAD)
template <> inline constexpr int hu_is_long<mean_of> = 1;
template <> inline constexpr int hu_is_long<spread_of> = 1;
#undef MEAN
#undef SPREAD

/* Allocates stat and computes it from sum by F. If the call has these outputs, the statistic itself goes to output at
   and the updated running statistic to output moved. */
template <class F>
static hu_status
statistic(hu_work *w, const hu_slot *sum, size_t rows, int at, int moved, hu_slot *stat)
{
	hu_field m = hu_field_of(w, sum->n, 1);

	*stat = hu_stat_slot(w, sum->n);
	hu_field_in(&m, sum, HU_AT_EACH);
	hu_field_in(&m, w->call->nout > moved ? w->in[moved] : sum, HU_AT_EACH);
	hu_field_keep(&m, stat);
	if (w->call->nout > at)
		hu_field_out(w, &m, w->out[at]);
	if (w->call->nout > moved)
		hu_field_out(w, &m, w->out[moved]);
	m.nk = CONSTANTS;
	m.k[EPS] = hu_norm_eps(w->call);
	m.k[MOMENTUM] = hu_attr_num(w->call, "momentum", 0.99);
	m.k[REST] = hu_norm_rest(w->call, moved, rows);
	m.k[ROWS] = (double)rows;
	return hu_field_run<F>(w, &m);
}

extern "C" hu_status
HU_SIDE(op_batchnorm)(hu_work *w)
{
	size_t channels = hu_last(w->in[0]->shape), rows = w->in[0]->n / channels;
	hu_slot sum, square[1], mean, rstd;

	HU_TRY(HU_SIDE(sum_down)(w, w->in[0], 1, rows, channels, &sum));
	HU_TRY(statistic<mean_of>(w, &sum, rows, 1, 3, &mean));
	hu_field squares = hu_norm_squares(w, &mean, HU_AT_CHANNEL);
	HU_TRY(hu_sum_down<hu_square_term>(w, &squares, 1, rows, square));
	HU_TRY(statistic<spread_of>(w, &square[0], rows, 2, 4, &rstd));
	return w->carry ? HU_OK : hu_norm_apply(w, w->in[1], w->in[2], &mean, &rstd, HU_AT_CHANNEL);
}
