/* SPDX-License-Identifier: Apache-2.0
   The data set "signals": generated waveforms of two channels, as images of one row. The i-th signal to train on does
   not depend on how many are asked for, nor does the i-th to evaluate on; these are numbered from 2^32 on. */
#include "trainer/data/data.h"

#include "lib/base/mem.h"
#include "trainer/data/drawn/signals.h"

enum { TRAIN = 4000, EVAL = 1000 };

static const uint64_t eval_from = (uint64_t)1 << 32;

hu_status
hu_dataset_signals(hu_dataset *ds, const char *arg, const hu_dataset_options *o)
{
	size_t train = o->train ? o->train : TRAIN, eval = o->eval ? o->eval : EVAL;
	hu_data_array *x, *labels;

	(void)arg;
	if (train >= eval_from || eval >= eval_from)
		return hu_fail(HU_EINVAL, "data set signals: fewer than 2^32 signals of each kind can be drawn");
	ds->n_train = train;
	ds->n_eval = eval;
	HU_TRY(hu_dataset_add(ds, o, "x", HU_ARRAY_FLOATS, hu_shape3(1, HU_SIGNAL_SAMPLES, HU_SIGNAL_CHANNELS), 0, &x));
	HU_TRY(hu_dataset_add(ds, o, "labels", HU_ARRAY_BYTES, hu_shape0(), HU_SIGNAL_CLASSES, &labels));
	if (o->dimensions_only)
		return HU_OK;
#pragma omp parallel for schedule(static)
	for (size_t i = 0; i < train + eval; i++)
		((unsigned char *)labels->values)[i] = (unsigned char)hu_signals_draw(
			(float *)x->values + i * HU_SIGNAL_SAMPLES * HU_SIGNAL_CHANNELS, o->seed,
			i < train ? i : eval_from + (i - train));
	return HU_OK;
}
