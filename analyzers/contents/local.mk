# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/contents/contents.c
noinst_HEADERS += analyzers/contents/contents.h
libhalfulp_a_SOURCES += analyzers/contents/contents_npz.c
libhalfulp_a_SOURCES += analyzers/contents/contents_onnx.c
libhalfulp_a_SOURCES += analyzers/contents/contents_read.c
libhalfulp_a_SOURCES += analyzers/contents/contents_source.c
noinst_HEADERS += analyzers/contents/contents_source.h
