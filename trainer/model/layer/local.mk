# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += trainer/model/layer/layer.c
noinst_HEADERS += trainer/model/layer/layer.h
libhalfulp_a_SOURCES += trainer/model/layer/layer_attention.c
noinst_HEADERS += trainer/model/layer/layer_attention.h
libhalfulp_a_SOURCES += trainer/model/layer/layer_dropout.c
noinst_HEADERS += trainer/model/layer/layer_dropout.h
libhalfulp_a_SOURCES += trainer/model/layer/layer_image.c
noinst_HEADERS += trainer/model/layer/layer_image.h
libhalfulp_a_SOURCES += trainer/model/layer/layer_loss.c
noinst_HEADERS += trainer/model/layer/layer_loss.h
noinst_HEADERS += trainer/model/layer/layer_parts.h
libhalfulp_a_SOURCES += trainer/model/layer/sizes.c
noinst_HEADERS += trainer/model/layer/sizes.def
noinst_HEADERS += trainer/model/layer/sizes.h
