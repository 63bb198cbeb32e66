/* SPDX-License-Identifier: Apache-2.0
   Host values (lib/op/tensor.h: floats, doubles of fp64) to the codes of device tensors and back. */
#ifndef HU_CUDA_TRANSFER_H
#define HU_CUDA_TRANSFER_H

#include "cuda/element/kernel.h"

/* N values of format F; TO and FROM do not overlap. A NaN becomes the format's one NaN where it is coded. */
void hu_transfer_pack(void *to, const void *from, size_t n, hu_format_id f);
void hu_transfer_unpack(void *to, const void *from, size_t n, hu_format_id f);
#endif
