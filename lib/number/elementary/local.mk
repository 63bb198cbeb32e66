# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += lib/number/elementary/elementary.h
noinst_HEADERS += lib/number/elementary/elementary_round.h
noinst_HEADERS += lib/number/elementary/error_function.h
noinst_HEADERS += lib/number/elementary/exponential.h
noinst_HEADERS += lib/number/elementary/trigonometric.h
noinst_HEADERS += lib/number/elementary/whole.h
