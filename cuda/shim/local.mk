# SPDX-License-Identifier: Apache-2.0

SHIM_SOURCES += cuda/shim/shim.cc
SHIM_SOURCES += cuda/shim/shim_bulk.cc
SHIM_SOURCES += cuda/shim/shim_copy.cc
noinst_HEADERS += cuda/shim/shim_engine.h
SHIM_SOURCES += cuda/shim/shim_fiber.cc
SHIM_SOURCES += cuda/shim/shim_mma.cc
SHIM_SOURCES += cuda/shim/shim_probe.cc
SHIM_SOURCES += cuda/shim/shim_queue.cc
SHIM_SOURCES += cuda/shim/shim_shared.cc
SHIM_SOURCES += cuda/shim/shim_state.cc
SHIM_SOURCES += cuda/shim/shim_terms.cc
noinst_HEADERS += cuda/shim/shim_terms.h
SHIM_SOURCES += cuda/shim/shim_wgmma.cc
