# SPDX-License-Identifier: Apache-2.0


# For other programs: make install puts the library, <halfulp/number.h> and what it includes, and a pkg-config file
lib_LIBRARIES = libhalfulp-number.a
libhalfulp_number_a_SOURCES = lib/base/bug.c lib/base/failed.c lib/base/mem.c lib/base/show.c lib/base/status.c lib/base/str.c lib/number/block/block.c lib/number/block/block_code.c lib/number/block/block_name.c \
	lib/number/block/block_scale.c lib/number/bulk/bulk.c \
	lib/number/bulk/bulk_neon.c lib/number/bulk/bulk_pack.c lib/number/bulk/bulk_plan.c lib/number/bulk/bulk_run.c lib/number/bulk/bulk_scalar.c lib/number/custom.c \
	lib/number/format.c lib/number/lookup/format_mode_find.c lib/number/names.c lib/number/simd.c
libhalfulp_number_a_LIBADD =
if X86_64
libhalfulp_number_a_LIBADD += lib/number/bulk/libhalfulp_avx2_a-bulk_avx2.$(OBJEXT) lib/number/bulk/libhalfulp_avx512_a-bulk_avx512.$(OBJEXT)
endif
numberdir = $(includedir)/halfulp
number_HEADERS = include/halfulp/number.h
numbertreedir = $(includedir)/halfulp
nobase_numbertree_HEADERS = lib/base/bug.h lib/base/hd.h lib/base/status.h lib/number/arith.h lib/number/block/block.h \
	lib/number/block/block_rules.def \
	lib/number/bulk/bulk.h lib/number/code.h lib/number/count.h lib/number/draw.h lib/number/elementary/elementary.h \
	lib/number/elementary/elementary_round.h lib/number/elementary/error_function.h lib/number/elementary/exponential.h \
	lib/number/elementary/trigonometric.h lib/number/elementary/whole.h lib/number/format.h lib/number/formats.def \
	lib/number/modes.def lib/number/philox.h lib/number/round.h lib/number/simd.h lib/number/ulp.h lib/number/wide.h
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = halfulp-number.pc
noinst_HEADERS += lib/number/arith.h
noinst_HEADERS += lib/number/code.h
noinst_HEADERS += lib/number/count.h
libhalfulp_a_SOURCES += lib/number/custom.c
noinst_HEADERS += lib/number/custom.h
noinst_HEADERS += lib/number/draw.h
libhalfulp_a_SOURCES += lib/number/format.c
noinst_HEADERS += lib/number/format.h
noinst_HEADERS += lib/number/formats.def
noinst_HEADERS += lib/number/modes.def
libhalfulp_a_SOURCES += lib/number/names.c
noinst_HEADERS += lib/number/names.h
noinst_HEADERS += lib/number/philox.h
noinst_HEADERS += lib/number/round.h
libhalfulp_a_SOURCES += lib/number/simd.c
noinst_HEADERS += lib/number/simd.h
noinst_HEADERS += lib/number/ulp.h
libhalfulp_a_SOURCES += lib/number/ulps.c
noinst_HEADERS += lib/number/ulps.h
noinst_HEADERS += lib/number/wide.h
