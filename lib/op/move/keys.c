/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/move/keys.h"

const hu_move_keys hu_move_key[HU_RANK] = {
	{ "d0", "from0", "start0", "step0" },
	{ "d1", "from1", "start1", "step1" },
	{ "d2", "from2", "start2", "step2" },
	{ "d3", "from3", "start3", "step3" },
	{ "d4", "from4", "start4", "step4" },
	{ "d5", "from5", "start5", "step5" },
	{ "d6", "from6", "start6", "step6" },
	{ "d7", "from7", "start7", "step7" },
};
