/* SPDX-License-Identifier: Apache-2.0
   halfulp op list: the operators, what they take and what they compute. */
#ifndef HU_ANALYZERS_OP_LIST_H
#define HU_ANALYZERS_OP_LIST_H

/* Prints all operators on standard output, as a table or, where json is 1, as JSON. Returns the exit code. */
int hu_op_list(int json);
/* Prints what the columns of the list mean. */
void hu_op_list_help(void);
#endif
