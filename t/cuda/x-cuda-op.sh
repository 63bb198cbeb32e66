#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# u-cuda-op with every case in every mix of formats: `make check` meets a third of the rarer ones.
exec "${HALFULP%/*}/t/cuda/u-cuda-op"
