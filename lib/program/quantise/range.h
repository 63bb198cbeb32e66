/* SPDX-License-Identifier: Apache-2.0
   What calibration inputs show of an activation, and the static scale that follows by each method. */
#ifndef HU_PROGRAM_RANGE_H
#define HU_PROGRAM_RANGE_H

#include "lib/op/tensor.h"
#include "lib/program/quantise/scheme.h"

#include <stdint.h>

/* HU_RANGE_BINS bins of equal width over [-amax, amax]: 2048 of magnitudes, as ONNX Runtime and TensorRT have. */
enum { HU_RANGE_BINS = 4096 };

/* Bins of equal width over [-threshold, threshold], which grow with later batches as onnxruntime's HistogramCollector
   has them: 128 at first. edge has n + 1 numbers. is_too_wide: a batch would have needed more than 2^14 bins, and
   nothing is counted since. */
typedef struct hu_range_grown {
	size_t n;
	uint64_t *count;
	float threshold, *edge;
	int is_too_wide;
} hu_range_grown;

/* 2048 bins from the least magnitude to the largest; edge has one number more. any: there is a finite element. */
typedef struct hu_range_magnitudes {
	float least, most, *edge;
	uint64_t *count;
	int any;
} hu_range_magnitudes;

typedef struct hu_range {
	double low, high, amax; /* of finite elements; low and high are at most and at least 0 */
	uint64_t n, nonfinite, *bins;
	double *batch; /* the largest magnitude of each call of hu_range_extend; infinite if not all are finite */
	double *ends;  /* the least and the largest finite element of each such call, 0 where there is none */
	size_t nbatch, capbatch;
	int infinite[2]; /* an element is infinite and negative, and positive */
	int grows;       /* hu_range_extend keeps grown too */
	int is_cut;      /* both passes keep magnitude too */
	hu_range_grown grown;
	hu_range_magnitudes magnitude;
} hu_range;

/* Two passes over the same values: hu_range_extend over all of them finds the ends, then hu_range_count counts.
   Elements that are not finite are counted apart. */
void hu_range_extend(hu_range *r, const hu_tensor *t);
void hu_range_count(hu_range *r, const hu_tensor *t);
void hu_range_release(hu_range *r);

/* The magnitude at which the method clips: amax (max), the upper edge of the bin where the percentile is reached, the
   one of 100 equal fractions of amax with the least mean squared error of codes of s->bits bits or of s->format, the
   one whose clipped histogram diverges least from its 128 levels (Migacz, 8-bit inference with TensorRT, 2017), or
   2^margin times the maximum of the last s->history batches, where that is neither 0 nor infinite; else what the
   batches before had, and where none had any, s->format's largest value, whose scale is 1 (Transformer Engine's
   delayed scaling). */
double hu_range_clip(const hu_range *r, const hu_scheme *s);
/* Whether that reads what hu_range_count counts. */
int hu_range_counts(const hu_scheme *s);

/* range_grown.c. Adds the finite elements of a batch, whose largest magnitude is MOST. */
void hu_range_grow(hu_range_grown *g, const hu_tensor *t, double most);
/* Cuts [*low, *high] to the ends between which 128 levels diverge least from the values counted, as onnxruntime's
   EntropyCalibrater does: to the first batch's range or to a wider one. Divergences are float32 as there, but for
   NumPy's logarithm, which may be off by some units in the last place: where two are as near as that, the other may be
   the least. */
void hu_range_entropy(const hu_range_grown *g, double *low, double *high);

/* range_magnitudes.c. What the two passes keep of a tensor's finite elements. Then cuts [*low, *high] at PERCENT % of
   the magnitudes as onnxruntime's PercentileCalibrater does. */
void hu_range_magnitude_ends(hu_range_magnitudes *m, const hu_tensor *t);
void hu_range_magnitude_count(hu_range_magnitudes *m, const hu_tensor *t);
void hu_range_percentile(const hu_range_magnitudes *m, double percent, double *low, double *high);

/* Integer codes: a value is scale (code - zero). */
typedef struct hu_affine {
	float scale;
	int zero, low, high;
} hu_affine;

/* Asymmetric: [low, high] of r, cut at the magnitude CLIP, by codes 0 … 2^bits - 1, scale = fl32((high - low) /
   (2^bits - 1)), zero = rint(-low / scale) (ONNX Runtime's quantize_static). Symmetric: scale = fl32(clip /
   (2^(bits-1) - 1)), codes -2^(bits-1) … 2^(bits-1) - 1. The scale of nothing but zeros is 1. */
hu_affine hu_affine_of(const hu_range *r, double clip, int bits, int asymmetric);
/* The scale of float codes: fl32(clip / the format's largest value); 1 for nothing but zeros. */
float hu_range_scale(double clip, hu_format_id f);
#endif
