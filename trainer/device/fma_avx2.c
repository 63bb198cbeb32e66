/* SPDX-License-Identifier: Apache-2.0 */
#define TRIAL hu_fma_trial_avx2
#define VECTOR __m256
#define WIDTH 8
#define SPLAT _mm256_set1_ps
#define FMA _mm256_fmadd_ps
#include "trainer/device/fma.inc"
