/* SPDX-License-Identifier: Apache-2.0
   Detects instruction sets and keeps the choice. */
#include "lib/number/simd.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <stdlib.h>
#include <string.h>

static const char *const names[HU_SIMDS] = { "scalar", "neon", "avx2", "avx512" };

static int chosen = -1; /* read and written atomically, because several threads may use it first */

int
hu_simd_has(hu_simd level)
{
	if (level == HU_SIMD_SCALAR)
		return 1;
#if defined(__aarch64__)
	return level == HU_SIMD_NEON;
#elif defined(__x86_64__)
	if (level == HU_SIMD_NEON)
		return 0;
	__builtin_cpu_init();
	unsigned a, b, c, d; /* clang 14 does not know "f16c" */
	int f16c = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
	int avx2 = f16c && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
	if (level == HU_SIMD_AVX2)
		return avx2;
	return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
#else
	return 0;
#endif
}

int
hu_simd_lacks_vnni(void)
{
#if defined(__x86_64__)
	unsigned a, b, c, d; /* leaf 7: AVX512-VNNI is bit 11 of ecx; AVX-VNNI bit 4 of eax in its leaf 1 */
	int wide = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (c & 1u << 11);
	int narrow = __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & 1u << 4);
	return !wide && !narrow;
#else
	return 0;
#endif
}

static hu_simd
widest(void)
{
	for (int i = HU_SIMDS - 1; i > 0; i--)
		if (hu_simd_has((hu_simd)i))
			return (hu_simd)i;
	return HU_SIMD_SCALAR;
}

hu_status
hu_simd_set(const char *name)
{
	if (!strcmp(name, "auto")) {
		__atomic_store_n(&chosen, (int)widest(), __ATOMIC_RELAXED);
		return HU_OK;
	}
	for (int i = 0; i < HU_SIMDS; i++)
		if (!strcmp(name, names[i])) {
			if (!hu_simd_has((hu_simd)i))
				return hu_fail(HU_EUNABLE, "this processor has no %s; use HALFULP_SIMD=auto (here: %s)",
					name, names[widest()]);
			__atomic_store_n(&chosen, i, __ATOMIC_RELAXED);
			return HU_OK;
		}
	return hu_fail(HU_EINVAL, "unknown instruction set '%s'; known: auto, scalar, neon, avx2, avx512", name);
}

hu_status
hu_simd_from_env(void)
{
	const char *name = getenv("HALFULP_SIMD");

	return hu_simd_set(name && *name ? name : "auto");
}

hu_simd
hu_simd_level(void)
{
	int level = __atomic_load_n(&chosen, __ATOMIC_RELAXED);

	if (level < 0) {
		if (hu_simd_from_env() != HU_OK)
			hu_simd_set("auto");
		level = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
	}
	return (hu_simd)level;
}

const char *hu_simd_name_of(hu_simd level) { return names[level]; }
const char *hu_simd_name(void) { return names[hu_simd_level()]; }
