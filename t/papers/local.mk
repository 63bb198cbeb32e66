# SPDX-License-Identifier: Apache-2.0

SCRIPT_TESTS += t/papers/blanchard-2020.sh
SCRIPT_TESTS += t/papers/croci-2022.sh
SCRIPT_TESTS += t/papers/fasi-2021.sh
SCRIPT_TESTS += t/papers/fprev-2024.sh
noinst_HEADERS += t/papers/gradients.h
SCRIPT_TESTS += t/papers/gupta-2015.sh
SCRIPT_TESTS += t/papers/higham-1993.sh
SCRIPT_TESTS += t/papers/higham-2019.sh
C_TESTS += t/papers/kalamkar-2019
SCRIPT_TESTS += t/papers/kingma-2015.sh
C_TESTS += t/papers/micikevicius-2018
SCRIPT_TESTS += t/papers/micikevicius-2022.sh
SCRIPT_TESTS += t/papers/wang-2018.sh
EXPENSIVE_SCRIPT_TESTS += t/papers/x-higham-1993.sh
SCRIPT_TESTS += t/papers/zamirai-2021.sh
