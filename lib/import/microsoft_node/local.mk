# SPDX-License-Identifier: Apache-2.0
libhalfulp_a_SOURCES += lib/import/microsoft_node/fused.c
libhalfulp_a_SOURCES += lib/import/microsoft_node/heads.c
libhalfulp_a_SOURCES += lib/import/microsoft_node/inner.c
noinst_HEADERS += lib/import/microsoft_node/inner.h
libhalfulp_a_SOURCES += lib/import/microsoft_node/moe.c
libhalfulp_a_SOURCES += lib/import/microsoft_node/nbits.c
libhalfulp_a_SOURCES += lib/import/microsoft_node/qlinear.c
