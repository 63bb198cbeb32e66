/* SPDX-License-Identifier: Apache-2.0
   Who does which unit of a work: the largest first, each to whoever has the least so far (Graham, Bounds on
   multiprocessing timing anomalies, SIAM J. Appl. Math. 17, 1969: at most 4/3 of the best possible end). */
#ifndef HU_BASE_PARTS_DEAL_H
#define HU_BASE_PARTS_DEAL_H

/* each: the cost of what each of n workers has. largest: that of one unit. */
typedef struct hu_deal { double *each, total, mean, most, largest; int n; } hu_deal;

/* Deals units units to n workers: of[i] is the one, from 0, that does unit i. A function of its arguments alone. */
void hu_deal_out(hu_deal *load, int *of, const double *cost, int units, int n);
void hu_deal_release(hu_deal *load);
/* Returns the order in which units are dealt: by descending cost, equal ones by number. The caller frees it. */
int *hu_deal_order(const double *cost, int units);
#endif
