/* SPDX-License-Identifier: Apache-2.0
   Long texts on a terminal, a screen at a time. */
#ifndef HU_BASE_PAGER_H
#define HU_BASE_PAGER_H

/* Standard output goes through $PAGER (less where it is unset) from hu_pager_begin to hu_pager_end, on a terminal
   alone; PAGER=cat or an empty one leaves it as it is. */
void hu_pager_begin(void);
void hu_pager_end(void);
#endif
