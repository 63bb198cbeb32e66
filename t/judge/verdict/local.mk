# SPDX-License-Identifier: Apache-2.0

C_TESTS += t/judge/verdict/u-vanishing
C_TESTS += t/judge/verdict/u-ziv
