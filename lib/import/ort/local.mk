# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/import/ort/conv.c
libhalfulp_a_SOURCES += lib/import/ort/function.c
libhalfulp_a_SOURCES += lib/import/ort/lanes.c
libhalfulp_a_SOURCES += lib/import/ort/norm.c
libhalfulp_a_SOURCES += lib/import/ort/product.c
libhalfulp_a_SOURCES += lib/import/ort/shape_reads.c
