/* SPDX-License-Identifier: Apache-2.0 */
#define TRIAL hu_fma_trial_avx512
#define VECTOR __m512
#define WIDTH 16
#define SPLAT _mm512_set1_ps
#define FMA _mm512_fmadd_ps
#include "trainer/device/fma.inc"
