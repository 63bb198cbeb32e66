# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/number/block/block.c
noinst_HEADERS += lib/number/block/block.h
libhalfulp_a_SOURCES += lib/number/block/block_code.c
noinst_HEADERS += lib/number/block/block_makers.def
libhalfulp_a_SOURCES += lib/number/block/block_name.c
noinst_HEADERS += lib/number/block/block_rules.def
libhalfulp_a_SOURCES += lib/number/block/block_scale.c
noinst_HEADERS += lib/number/block/blocks.def
libhalfulp_a_SOURCES += lib/number/block/map.c
noinst_HEADERS += lib/number/block/map.h
