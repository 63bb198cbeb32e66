# SPDX-License-Identifier: Apache-2.0

C_TESTS += t/op/update/u-moments-alone
C_TESTS += t/op/update/u-moments-still
C_TESTS += t/op/update/u-scaler
