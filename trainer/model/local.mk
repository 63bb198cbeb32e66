# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += trainer/model/bert.c
libhalfulp_a_SOURCES += trainer/model/convnet.c
libhalfulp_a_SOURCES += trainer/model/gpt.c
libhalfulp_a_SOURCES += trainer/model/mlp.c
libhalfulp_a_SOURCES += trainer/model/model.c
noinst_HEADERS += trainer/model/model.h
noinst_HEADERS += trainer/model/models.def
noinst_HEADERS += trainer/model/models.h
libhalfulp_a_SOURCES += trainer/model/ncf.c
noinst_HEADERS += trainer/model/presets.def
libhalfulp_a_SOURCES += trainer/model/resnet.c
libhalfulp_a_SOURCES += trainer/model/resnet1d.c
libhalfulp_a_SOURCES += trainer/model/unet.c
