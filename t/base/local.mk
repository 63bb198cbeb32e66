# SPDX-License-Identifier: Apache-2.0

C_TESTS += t/base/u-base
C_TESTS += t/base/u-room
C_TESTS += t/base/u-tap
C_TESTS += t/base/u-team
