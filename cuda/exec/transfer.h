/* SPDX-License-Identifier: Apache-2.0
   Converts host values (lib/op/tensor.h: floats, or doubles for fp64) to the codes of device tensors and back. */
#ifndef HU_CUDA_TRANSFER_H
#define HU_CUDA_TRANSFER_H

#include "cuda/element/kernel.h"

/* Converts n values of format f; to and from must not overlap. A NaN becomes the format's single NaN when packed into
   codes. */
void hu_transfer_pack(void *to, const void *from, size_t n, hu_format_id f);
void hu_transfer_unpack(void *to, const void *from, size_t n, hu_format_id f);
#endif
