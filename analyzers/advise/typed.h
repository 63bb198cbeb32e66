/* SPDX-License-Identifier: Apache-2.0
   The typed model: an ONNX file whose nodes compute as an assignment says, for tools that take precision from types. */
#ifndef HU_ANALYZERS_TYPED_H
#define HU_ANALYZERS_TYPED_H

#include "analyzers/network/variants.h"

/* A copy of ONNX, in which hu_typed_add gives the products of M, its program for some inputs, V's schemes, unless one
   before did; other nodes stay as they are. A product in a format stands between Casts of its float32 operands and
   results; a product of integers or of float8 codes has QuantizeLinear and DequantizeLinear on its activations and
   DequantizeLinear on weights stored as codes; weights that alone are quantised are stored as the float32 numbers that
   remain of them. Static scales are those of RANGE. HU_EUNABLE names a node that has no name of its own, a scheme that
   has no such file (dynamic scales), or the version of operators that it would need. Free it after a failure too. */
typedef struct hu_typed hu_typed;
hu_status hu_typed_open(hu_typed **t, const hu_onnx *onnx);
hu_status hu_typed_add(hu_typed *t, const hu_imported *m, const hu_variant *v, const hu_range *range);
hu_status hu_typed_write(const hu_typed *t, const char *path);
void hu_typed_free(hu_typed *t);
/* Fails where no typed file can be written of ONNX with these schemes, which is known before any search. */
hu_status hu_typed_writes(const hu_onnx *onnx, const hu_scheme *scheme, size_t n);
#endif
