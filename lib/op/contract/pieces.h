/* SPDX-License-Identifier: Apache-2.0
   Rows of A where they lie: for a tile of rows and a block of terms, pieces that a micro-kernel reads in place
   (hu_panel.pieces), so that nothing is packed. Which element is in which sum, and in which order, is what row()
   says. */
#ifndef HU_OP_CONTRACT_PIECES_H
#define HU_OP_CONTRACT_PIECES_H

#include "lib/op/contract/contract.h"

enum { HU_PIECES_GROUPS = 8 };

/* Eight groups of a kernel's rows, and the pieces of each over at most HU_PACK_TERMS terms. One thread's. */
typedef struct hu_pieces {
	const hu_contract *x;
	size_t m, rows, lanes;                              /* the tile's first row, its rows, and those of a kernel */
	hu_spot spot[HU_PIECES_GROUPS * HU_PANEL_PIECE_ROWS], term[HU_PACK_TERMS];
	size_t n[HU_PIECES_GROUPS];
	hu_panel_piece piece[HU_PIECES_GROUPS][HU_PACK_TERMS];
} hu_pieces;

/* Whether the product's rows shall be read in place by the kernel: A's tensor holds floats, and so many panels of B's
   columns as read them do not make up for what packing costs. */
int hu_pieces_serve(const hu_contract *x, const hu_panel *kernel, size_t panels);
/* Begins a tile of rows m .. m+rows-1, at most HU_PIECES_GROUPS * kernel->mr. x must outlive its use. */
void hu_pieces_rows(hu_pieces *p, const hu_contract *x, const hu_panel *kernel, size_t m, size_t rows);
/* Finds the pieces of terms k .. k+kc-1, where kc is at most HU_PACK_TERMS: n[g] of group g, with a row in every
   place: past the tile's last row it is that of the group's first one, whose sums nobody reads. */
void hu_pieces_terms(hu_pieces *p, size_t k, size_t kc);
#endif
