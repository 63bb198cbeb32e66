/* SPDX-License-Identifier: Apache-2.0
   What the kernel judge's composed operators compute, by MPFR from their definitions: attention, its backward pass,
   rotary embedding, convolutions, optimizers' steps, and the backward passes of norms. */
#ifndef HU_T_KERNEL_COMPOSED_EXACT_H
#define HU_T_KERNEL_COMPOSED_EXACT_H

#include "t/judge/kernels/radii.h"

enum { OPERANDS = 5, MOST = 24, INSIDE = 4 };
enum { N = 3, M = 4, D = 3, W = 2, L = 5 }; /* rows, keys, head size, value size, a norm's length */
static mpfr_t A, B, C, X;

typedef mpfr_t vector[MOST];

/* Sets y to the sum of a[i s] b[i t] over n terms. */
static void
dot(mpfr_t y, mpfr_t *a, int s, mpfr_t *b, int t, int n)
{
	mpfr_set_zero(y, 1);
	for (int i = 0; i < n; i++)
		mpfr_fma(y, a[i * s], b[i * t], y, R);
}

#define CASE(name) static void exact_##name(vector *x, vector *y, int variant)

/* Weights of one query row, and the log of their sum. */
static void
shares(mpfr_t *p, mpfr_t lse, mpfr_t *q, mpfr_t *k, int keys, int depth, double scale, double cap)
{
	for (int j = 0; j < keys; j++) {
		dot(p[j], q, 1, k + j * depth, 1, depth);
		mpfr_mul_d(p[j], p[j], scale, R);
		if (cap > 0) {
			mpfr_div_d(p[j], p[j], cap, R);
			mpfr_tanh(p[j], p[j], R);
			mpfr_mul_d(p[j], p[j], cap, R);
		}
	}
	mpfr_set(B, p[0], R);
	for (int j = 1; j < keys; j++)
		mpfr_max(B, B, p[j], R);
	mpfr_set_zero(lse, 1);
	for (int j = 0; j < keys; j++) {
		mpfr_sub(p[j], p[j], B, R);
		mpfr_exp(p[j], p[j], R);
		mpfr_add(lse, lse, p[j], R);
	}
	for (int j = 0; j < keys; j++)
		mpfr_div(p[j], p[j], lse, R);
	mpfr_log(lse, lse, R);
	mpfr_add(lse, lse, B, R);
}

static mpfr_t share[MOST], row[MOST];

/* Variants: 0 plain, 1 causal, 2 with a softcap of 5. */
CASE(attention)
{
	for (int i = 0; i < N; i++) {
		int keys = variant == 1 ? i + 1 : M;
		shares(share, y[1][i], x[0] + i * D, x[1], keys, D, 0.5, variant == 2 ? 5 : 0);
		for (int d = 0; d < W; d++)
			dot(y[0][i * W + d], share, 1, x[2] + d, W, keys);
	}
}

CASE(attention_dx)
{
	for (int k = 0; k < 3; k++)
		for (int i = 0; i < MOST; i++)
			mpfr_set_zero(y[k][i], 1);
	for (int i = 0; i < N; i++) {
		int keys = variant == 1 ? i + 1 : N;
		mpfr_t *go = x[3] + i * D;
		shares(share, A, x[0] + i * D, x[1], keys, D, 0.5, 0);
		for (int j = 0; j < keys; j++)
			dot(row[j], go, 1, x[2] + j * D, 1, D);
		dot(C, share, 1, row, 1, keys);
		for (int j = 0; j < keys; j++) {
			mpfr_sub(row[j], row[j], C, R);
			mpfr_mul(row[j], row[j], share[j], R);
			mpfr_mul_d(row[j], row[j], 0.5, R);
			for (int d = 0; d < D; d++) {
				mpfr_fma(y[0][i * D + d], row[j], x[1][j * D + d], y[0][i * D + d], R);
				mpfr_fma(y[1][j * D + d], row[j], x[0][i * D + d], y[1][j * D + d], R);
				mpfr_fma(y[2][j * D + d], share[j], go[d], y[2][j * D + d], R);
			}
		}
	}
}

/* Both norms' gradients; variant 1 is layernorm's, with a third result. */
CASE(norm_dx)
{
	for (int j = 0; j < L; j++)
		for (int k = 1; k < 3; k++)
			mpfr_set_zero(y[k][j], 1);
	for (int i = 0; i < N; i++) {
		mpfr_t *u = x[0] + i * L, *dy = x[1] + i * L, *n = share;
		mpfr_set_zero(A, 1);
		for (int j = 0; j < L && variant; j++)
			mpfr_add(A, A, u[j], R);
		mpfr_div_si(A, A, L, R);
		for (int j = 0; j < L; j++)
			mpfr_sub(n[j], u[j], A, R);
		dot(B, n, 1, n, 1, L);
		mpfr_div_si(B, B, L, R);
		mpfr_add_d(B, B, variant ? 1e-5 : 1e-6, R);
		mpfr_rec_sqrt(B, B, R);
		mpfr_set_zero(A, 1);
		for (int j = 0; j < L; j++) {
			mpfr_mul(n[j], n[j], B, R);
			mpfr_fma(y[1][j], dy[j], n[j], y[1][j], R);
			mpfr_add(y[2][j], y[2][j], dy[j], R);
			mpfr_mul(row[j], dy[j], x[2][j], R);
			mpfr_add(A, A, row[j], R);
		}
		dot(C, row, 1, n, 1, L);
		mpfr_div_si(C, C, L, R);
		mpfr_div_si(A, A, L, R);
		for (int j = 0; j < L; j++) {
			mpfr_mul(X, n[j], C, R);
			mpfr_sub(X, row[j], X, R);
			if (variant)
				mpfr_sub(X, X, A, R);
			mpfr_mul(y[0][i * L + j], X, B, R);
		}
	}
}

/* x [2, 4], cos and sin [2, 2]. */
CASE(rope)
{
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 2; j++) {
			int a = i * 4 + (variant ? 2 * j : j), b = variant ? a + 1 : a + 2;
			mpfr_fmms(y[0][a], x[0][a], x[1][i * 2 + j], x[0][b], x[2][i * 2 + j], R);
			mpfr_fmma(y[0][b], x[0][b], x[1][i * 2 + j], x[0][a], x[2][i * 2 + j], R);
		}
}

/* x [1, 2, 6], w [2, 2, 3], b [2]: stride 2, padding 1. */
CASE(conv)
{
	(void)variant;
	for (int f = 0; f < 2; f++)
		for (int o = 0; o < 3; o++) {
			mpfr_set(A, x[2][f], R);
			for (int c = 0; c < 2; c++)
				for (int k = 0; k < 3; k++) {
					int place = 2 * o + k - 1;
					if (place >= 0 && place < 6)
						mpfr_fma(A, x[0][c * 6 + place], x[1][(f * 2 + c) * 3 + k], A, R);
				}
			mpfr_set(y[0][f * 3 + o], A, R);
		}
}

/* x [1, 2, 4], w [2, 2, 3], b [2]: stride 2, padding 1, output padding 1; 8 outputs a filter. */
CASE(conv_transpose)
{
	(void)variant;
	for (int f = 0; f < 2; f++)
		for (int o = 0; o < 8; o++)
			mpfr_set(y[0][f * 8 + o], x[2][f], R);
	for (int f = 0; f < 2; f++)
		for (int c = 0; c < 2; c++)
			for (int i = 0; i < 4; i++)
				for (int k = 0; k < 3; k++) {
					int place = 2 * i + k - 1;
					if (place >= 0 && place < 8)
						mpfr_fma(y[0][f * 8 + place], x[0][c * 4 + i],
							x[1][(c * 2 + f) * 3 + k], y[0][f * 8 + place], R);
				}
}

/* Sets y to a s + b t. */
static void
blend(mpfr_t y, mpfr_t a, double s, mpfr_t b, double t)
{
	mpfr_mul_d(A, a, s, R);
	mpfr_mul_d(B, b, t, R);
	mpfr_add(y, A, B, R);
}

/* Step 3; 1 - 0.01 lr and the like are doubles there and here, 1 - beta^3 is exact here. */
CASE(adamw)
{
	double b1 = 0.875, b2 = 0.984375, lr = 0x1p-10, decay = 0x1p-5;

	for (int i = 0; i < 8; i++) {
		if (variant) {
			mpfr_mul_d(X, x[0][i], decay, R);
			mpfr_add(X, X, x[1][i], R);
		} else {
			mpfr_set(X, x[1][i], R);
		}
		blend(y[1][i], x[2][i], b1, X, 1 - b1);
		mpfr_sqr(C, X, R);
		blend(y[2][i], x[3][i], b2, C, 1 - b2);
		mpfr_div_d(C, y[2][i], 1 - b2 * b2 * b2, R);
		mpfr_sqrt(C, C, R);
		mpfr_add_d(C, C, 0x1p-20, R);
		mpfr_div_d(X, y[1][i], 1 - b1 * b1 * b1, R);
		mpfr_div(X, X, C, R);
		mpfr_mul_d(X, X, lr, R);
		mpfr_mul_d(C, x[0][i], variant ? 1 : 1 - lr * decay, R);
		mpfr_sub(y[0][i], C, X, R);
	}
}

CASE(lion)
{
	(void)variant;
	for (int i = 0; i < 8; i++) {
		blend(C, x[2][i], 0.875, x[1][i], 0.125);
		mpfr_mul_d(y[0][i], x[0][i], 1 - 0x1p-15, R);
		mpfr_sub_d(y[0][i], y[0][i], 0x1p-10 * mpfr_sgn(C), R);
		blend(y[1][i], x[2][i], 0.984375, x[1][i], 0.015625);
	}
}

CASE(sgd)
{
	for (int i = 0; i < 8; i++) {
		mpfr_mul_d(C, x[0][i], 0x1p-5, R);
		mpfr_add(C, C, x[1][i], R);
		mpfr_mul_d(X, x[2][i], 0.875, R);
		mpfr_add(y[1][i], X, C, R);
		mpfr_set(X, y[1][i], R);
		if (variant) {
			mpfr_mul_d(X, X, 0.875, R);
			mpfr_add(X, X, C, R);
		}
		mpfr_mul_d(X, X, 0x1p-4, R);
		mpfr_sub(y[0][i], x[0][i], X, R);
	}
}

CASE(muon)
{
	for (int i = 0; i < 8; i++) {
		blend(y[1][i], x[2][i], 0.875, x[1][i], 0.125);
		if (variant)
			blend(y[2][i], y[1][i], 0.875, x[1][i], 0.125);
		else
			mpfr_set(y[2][i], y[1][i], R);
		mpfr_mul_d(X, x[3][i], 0x1p-5, R);
		mpfr_mul_d(C, x[0][i], 1 - 0x1p-9, R);
		mpfr_sub(y[0][i], C, X, R);
	}
}

#endif
