# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += trainer/model/layer/layer.c
noinst_HEADERS += trainer/model/layer/layer.h
libhalfulp_a_SOURCES += trainer/model/layer/layer_attention.c
noinst_HEADERS += trainer/model/layer/layer_attention.h
libhalfulp_a_SOURCES += trainer/model/layer/layer_dropout.c
noinst_HEADERS += trainer/model/layer/layer_dropout.h
libhalfulp_a_SOURCES += trainer/model/layer/layer_experts.c
noinst_HEADERS += trainer/model/layer/layer_experts.h
libhalfulp_a_SOURCES += trainer/model/layer/layer_image.c
noinst_HEADERS += trainer/model/layer/layer_image.h
noinst_HEADERS += trainer/model/layer/sizes.def
noinst_HEADERS += trainer/model/layer/sizes.h
