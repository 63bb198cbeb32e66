# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/import/tool/affine.c
libhalfulp_a_SOURCES += lib/import/tool/fp16.c
noinst_HEADERS += lib/import/tool/fp16.h
libhalfulp_a_SOURCES += lib/import/tool/occ_fp16.c
libhalfulp_a_SOURCES += lib/import/tool/ort_dynamic.c
libhalfulp_a_SOURCES += lib/import/tool/ort_static.c
noinst_HEADERS += lib/import/tool/ort_static.h
libhalfulp_a_SOURCES += lib/import/tool/ort_static_notes.c
libhalfulp_a_SOURCES += lib/import/tool/ort_static_write.c
libhalfulp_a_SOURCES += lib/import/tool/rewriting.c
noinst_HEADERS += lib/import/tool/rewriting.h
libhalfulp_a_SOURCES += lib/import/tool/tool.c
noinst_HEADERS += lib/import/tool/tool.h
libhalfulp_a_SOURCES += lib/import/tool/tool_rewrite.c
noinst_HEADERS += lib/import/tool/tool_words.def
noinst_HEADERS += lib/import/tool/tools.def
