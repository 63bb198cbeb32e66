# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += lib/op/element/rows/activation.def
noinst_HEADERS += lib/op/element/rows/arithmetic.def
noinst_HEADERS += lib/op/element/rows/choice.def
noinst_HEADERS += lib/op/element/rows/function.def
noinst_HEADERS += lib/op/element/rows/loss.def
