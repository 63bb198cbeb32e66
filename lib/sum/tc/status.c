/* SPDX-License-Identifier: Apache-2.0
   The status and the source of tc.def's rows, as text. */
#include "lib/sum/tc/status.h"

const char *
hu_tc_status(hu_tc t, hu_format_id out)
{
	static const char *const words[] = {
		[HU_TC_V] = "equals published vectors",
		[HU_TC_P] = "equals what halfulp probe measured",
		[HU_TC_M] = "measured elsewhere",
		[HU_TC_S] = "two sources",
		[HU_TC_O] = "one source",
		[HU_TC_U] = "undecided",
		[HU_TC_N] = "-",
	};

	return words[out == HU_FP16 ? t.status16 : t.status];
}

const char *
hu_tc_source(hu_tc t)
{
#define TC(arch_, in_, paths_, kind_, l_, f_, keep_, zero_, s_, s16_, source_) \
	if (t.arch == HU_TC_##arch_ && t.in == HU_##in_ && t.paths == (HU_TC_##paths_) && t.kind == HU_TC_##kind_) \
		return source_;
#include "lib/sum/tc/tc.def"
#undef TC
	return NULL;
}
