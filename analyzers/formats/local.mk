# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/formats/block_page.c
libhalfulp_a_SOURCES += analyzers/formats/cmd_formats.c
libhalfulp_a_SOURCES += analyzers/formats/cmd_round.c
libhalfulp_a_SOURCES += analyzers/formats/flush.c
noinst_HEADERS += analyzers/formats/flush.h
libhalfulp_a_SOURCES += analyzers/formats/format_page.c
noinst_HEADERS += analyzers/formats/format_page.h
libhalfulp_a_SOURCES += analyzers/formats/format_table.c
libhalfulp_a_SOURCES += analyzers/formats/round_blocks.c
noinst_HEADERS += analyzers/formats/round_blocks.h
libhalfulp_a_SOURCES += analyzers/formats/targets.c
noinst_HEADERS += analyzers/formats/targets.h
