#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The fp32 part of higham-1993.sh, which says what is reproduced: tens of millions of terms.
. "${srcdir:-.}/t/papers/higham-1993.sh"
