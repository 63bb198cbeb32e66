# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/drift/contents/contents.c
noinst_HEADERS += analyzers/drift/contents/contents.h
libhalfulp_a_SOURCES += analyzers/drift/contents/contents_npz.c
libhalfulp_a_SOURCES += analyzers/drift/contents/contents_onnx.c
libhalfulp_a_SOURCES += analyzers/drift/contents/contents_read.c
libhalfulp_a_SOURCES += analyzers/drift/contents/contents_source.c
noinst_HEADERS += analyzers/drift/contents/contents_source.h
libhalfulp_a_SOURCES += analyzers/drift/contents/kind.c
noinst_HEADERS += analyzers/drift/contents/kind.h
