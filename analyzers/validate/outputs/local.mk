# SPDX-License-Identifier: Apache-2.0
libhalfulp_a_SOURCES += analyzers/validate/outputs/outputs.c
noinst_HEADERS += analyzers/validate/outputs/outputs.h
libhalfulp_a_SOURCES += analyzers/validate/outputs/outputs_json.c
libhalfulp_a_SOURCES += analyzers/validate/outputs/outputs_npz.c
libhalfulp_a_SOURCES += analyzers/validate/outputs/outputs_text.c
libhalfulp_a_SOURCES += analyzers/validate/outputs/validation_table.c
noinst_HEADERS += analyzers/validate/outputs/validation_table.h
