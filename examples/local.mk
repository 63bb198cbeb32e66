# SPDX-License-Identifier: Apache-2.0

nobase_dist_pkgdata_DATA += examples/digits.npz
nobase_dist_pkgdata_DATA += examples/digits.onnx
nobase_dist_pkgdata_DATA += examples/digits.py
nobase_dist_pkgdata_DATA += examples/library.c
nobase_dist_pkgdata_DATA += examples/library.cpp
nobase_dist_pkgdata_DATA += examples/paper.tex
