# SPDX-License-Identifier: Apache-2.0

C_TESTS += t/judge/doubles/u-doubles
