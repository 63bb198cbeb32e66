/* SPDX-License-Identifier: Apache-2.0
   Numbers and texts as words of one line, which read back to the same bits: what a unit of work found, on its way
   between processes. One function describes a struct in both directions: it passes the members one after another, and
   the pack writes or fills them. */
#ifndef HU_BASE_PACK_H
#define HU_BASE_PACK_H

#include "lib/base/status.h"
#include "lib/base/str.h"

#include <stdint.h>

/* text: what was written; at: what is still to be read. bad is set by the first word that is not what was asked for;
   from then on everything reads as 0. */
typedef struct hu_pack { hu_str text; const char *at; int reading, bad; } hu_pack;

/* Begins an empty pack, or the reading of a text that must outlive it. */
void hu_pack_write(hu_pack *r);
void hu_pack_read(hu_pack *r, const char *text);
void hu_pack_release(hu_pack *r);
/* HU_EFILE, with `what` in the reason, unless every word was read and was what it should be. */
hu_status hu_pack_end(const hu_pack *r, const char *what);

void hu_pack_size(hu_pack *r, size_t *x);
void hu_pack_count(hu_pack *r, uint64_t *x);
void hu_pack_int(hu_pack *r, int *x);
/* Hexadecimal, so that every bit is kept; infinities and NaN (any NaN) too. */
void hu_pack_real(hu_pack *r, double *x);
void hu_pack_wide(hu_pack *r, long double *x);
/* n numbers as one word: in 8 hexadecimal digits each where all are floats, else in 16. */
void hu_pack_reals(hu_pack *r, double *x, size_t n);
/* Any text; what is read is appended to s. */
void hu_pack_text(hu_pack *r, hu_str *s);
/* The number of things that follow, each at least a word; a number that the rest cannot hold is bad and reads as 0. */
size_t hu_pack_length(hu_pack *r, size_t n);
#endif
