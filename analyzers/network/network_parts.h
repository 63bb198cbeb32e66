/* SPDX-License-Identifier: Apache-2.0
   The parts of a command's work on a model that shards and ranks share: where they lie, and what says that two
   processes do the same work. */
#ifndef HU_ANALYZERS_NETWORK_PARTS_H
#define HU_ANALYZERS_NETWORK_PARTS_H

#include "lib/base/parts/share.h"

/* What a hu_share_work of a command on a model points to. text: a line that only processes have in common that were
   given files of the same contents and the same options, in any order. */
typedef struct hu_network_parts {
	char *text, *folder, *place;
} hu_network_parts;

/* Fills P, and of W what is in it and the command's name. Parts lie in the folder PLACE, or, where that is NULL, in
   runs/COMMAND-MODEL. EXCEPT: options that are no part of the text, which blanks separate. Where ST, how the process
   has got on so far, is a failure, it is returned and there is no text. HU_EFILE where a file cannot be read. */
hu_status hu_network_parts_init(hu_network_parts *p, hu_share_work *w, const char *command, const char *place,
	const hu_args *a, const char *except, hu_status st);
void hu_network_parts_release(hu_network_parts *p);
#endif
