# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += cuda/base/divide.h
noinst_HEADERS += cuda/base/launch.h
noinst_HEADERS += cuda/base/shim.h
