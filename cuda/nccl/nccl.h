/* SPDX-License-Identifier: Apache-2.0
   Sums over GPUs by NVIDIA's NCCL, which is loaded when first needed: Debian's or NVIDIA's package, or the one of
   Python's nvidia-nccl that PyTorch installs. Numbers and types are those of nccl.h, written out here because that
   header is not always installed (cuda/nccl/nccl_check.cu compares them if it is). The order of NCCL's additions is its
   own and depends on the number of GPUs, so its promise is an error bound and no bits (lib/op/kind/all_reduce.c).
   Unless the user has set them, the environment variables NCCL_ALGO and NCCL_PROTO are set to Ring and Simple. */
#ifndef HU_CUDA_NCCL_H
#define HU_CUDA_NCCL_H

#include "lib/base/status.h"
#include "lib/number/format.h"

#include <stddef.h>

/* Collective: loads the library and connects all ranks (lib/base/ranks/ranks.h), each on the device that it has taken.
   host: the library that HALFULP_NCCL_HOST names works on the host's memory, for the shim. A second call does nothing.
   On every rank HU_EUNABLE where one has no library, HU_EFILE where one has another version, HU_EDEVICE where they
   cannot be connected, for example because two of them are on one GPU. */
hu_status hu_nccl_join(int host);
/* Collective, on a queue of the device: out[i] becomes the sum of every rank's in[i], for n elements of format f as
   they lie in device memory; in may be out. Returns before the sum is there. HU_EUNABLE: NCCL adds no f. */
hu_status hu_nccl_all_reduce(void *queue, const void *in, void *out, size_t n, hu_format_id f);
/* Asks how the sums are getting on that were begun, of whose end the host has waited so many seconds. A link that is
   lost ends no sum, and the device would be waited for without an end. *busy becomes 1 where NCCL says that it is still
   at it, whatever the queue says. HU_EDEVICE where NCCL has noticed an error, or the wait is longer than
   HALFULP_NCCL_TIMEOUT says, in seconds (600): the ranks are then disconnected. */
hu_status hu_nccl_look(double waited, int *busy);
/* Returns 1 if NCCL adds numbers of format f: fp16, bf16, fp32, tf32 (as fp32) or fp64. */
int hu_nccl_adds(hu_format_id f);
/* The library's name and version and the values of the two variables, for a manifest: "NCCL 2.28.3", "Ring", "Simple".
   NULL before ranks were joined. */
typedef struct hu_nccl_words { const char *library, *algorithm, *protocol; } hu_nccl_words;
const hu_nccl_words *hu_nccl_used(void);
/* Says for people which library would be loaded: its name and version; 0 where there is none. */
int hu_nccl_find(char *to, size_t size);
/* Waits for the sums that were begun and parts the ranks again; it does nothing where they were not joined. */
void hu_nccl_leave(void);

/* Numbers from nccl.h. */
enum { NCCL_FLOAT16 = 6, NCCL_FLOAT32 = 7, NCCL_FLOAT64 = 8, NCCL_BFLOAT16 = 9 };
enum { NCCL_SUM = 0, NCCL_IN_PROGRESS = 7 };
typedef struct hu_nccl_id { char internal[128]; } hu_nccl_id;
#endif
