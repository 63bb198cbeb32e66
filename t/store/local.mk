# SPDX-License-Identifier: Apache-2.0

t_libtap_a_SOURCES += t/store/onnx-model.c
noinst_HEADERS += t/store/onnx-model.h
SCRIPT_TESTS += t/store/t-hostile-files.py
SCRIPT_TESTS += t/store/t-hostile-run.sh
SCRIPT_TESTS += t/store/t-npz.sh
SCRIPT_TESTS += t/store/t-run-shared.sh
C_TESTS += t/store/u-course
C_TESTS += t/store/u-idx
C_TESTS += t/store/u-npy
C_TESTS += t/store/u-npz
C_TESTS += t/store/u-onnx
C_TESTS += t/store/u-run-trace
C_TESTS += t/store/u-run
C_TESTS += t/store/u-safetensors
