# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += doc/experiments/1-why-so-little.md
EXTRA_DIST += doc/experiments/10-optimizers.md
EXTRA_DIST += doc/experiments/11-batch-size.md
EXTRA_DIST += doc/experiments/12-accumulators.md
EXTRA_DIST += doc/experiments/2-residual-net.md
EXTRA_DIST += doc/experiments/3-bert.md
EXTRA_DIST += doc/experiments/4-four-speed-ups.md
EXTRA_DIST += doc/experiments/5-power.md
EXTRA_DIST += doc/experiments/6-gradual-adoption.md
EXTRA_DIST += doc/experiments/7-int8.md
EXTRA_DIST += doc/experiments/8-every-model.md
EXTRA_DIST += doc/experiments/9-fp4.md
EXTRA_DIST += doc/experiments/README.md
EXTRA_DIST += doc/experiments/losses.svg
EXTRA_DIST += doc/experiments/power.svg
