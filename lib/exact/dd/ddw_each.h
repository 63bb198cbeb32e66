/* SPDX-License-Identifier: Apache-2.0
   Includes the file that HU_DDW_EACH names once for each width of ddw.h, within code for that width's registers. The
   file names a function NAME of the width as HU_W(NAME), which is hu_ddw8_NAME or hu_ddw4_NAME; several double-doubles
   have the type HU_W_T, one double of each the type HU_W_V, and a truth value for each the type HU_W_M. HU_W_IF
   compares lane by lane, HU_W_ALL(x) is x in every lane, and HU_W_LANES is the number of lanes. There is no guard,
   because each includer names another file. */
#define HU_W_V HU_W(lanes)
#define HU_W_M HU_W(mask)
#define HU_W_ALL HU_W(lanes_all)

#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw,fma")
#define HU_W(name) hu_ddw8_##name
#define HU_W_T hu_ddw8
#define HU_W_IF HU_DDW8_IF
#define HU_W_LANES 8
#include HU_DDW_EACH
#undef HU_W
#undef HU_W_T
#undef HU_W_IF
#undef HU_W_LANES
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define HU_W(name) hu_ddw4_##name
#define HU_W_T hu_ddw4
#define HU_W_IF HU_DDW4_IF
#define HU_W_LANES 4
#include HU_DDW_EACH
#undef HU_W
#undef HU_W_T
#undef HU_W_IF
#undef HU_W_LANES
#pragma GCC pop_options

#undef HU_W_V
#undef HU_W_M
#undef HU_W_ALL
#undef HU_DDW_EACH
