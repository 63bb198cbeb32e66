# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/import/tool/ort_static/ort_static.c
noinst_HEADERS += lib/import/tool/ort_static/ort_static.h
libhalfulp_a_SOURCES += lib/import/tool/ort_static/ort_static_coded.c
noinst_HEADERS += lib/import/tool/ort_static/ort_static_coded.h
libhalfulp_a_SOURCES += lib/import/tool/ort_static/ort_static_notes.c
libhalfulp_a_SOURCES += lib/import/tool/ort_static/ort_static_operators.c
libhalfulp_a_SOURCES += lib/import/tool/ort_static/ort_static_write.c
