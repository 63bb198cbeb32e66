# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += trainer/model/bert.c
libhalfulp_a_SOURCES += trainer/model/convnet.c
libhalfulp_a_SOURCES += trainer/model/gpt.c
libhalfulp_a_SOURCES += trainer/model/layer.c
noinst_HEADERS += trainer/model/layer.h
libhalfulp_a_SOURCES += trainer/model/layer_attention.c
noinst_HEADERS += trainer/model/layer_attention.h
noinst_HEADERS += trainer/model/layer_parts.h
libhalfulp_a_SOURCES += trainer/model/mlp.c
libhalfulp_a_SOURCES += trainer/model/model.c
noinst_HEADERS += trainer/model/model.h
noinst_HEADERS += trainer/model/models.def
libhalfulp_a_SOURCES += trainer/model/ncf.c
noinst_HEADERS += trainer/model/presets.def
noinst_HEADERS += trainer/model/sizes.def
