# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/program/policy/fake.c
noinst_HEADERS += lib/program/policy/fake.h
libhalfulp_a_SOURCES += lib/program/policy/pass_policy.c
noinst_HEADERS += lib/program/policy/pass_policy.h
libhalfulp_a_SOURCES += lib/program/policy/pass_recipe.c
noinst_HEADERS += lib/program/policy/policies.def
libhalfulp_a_SOURCES += lib/program/policy/policy.c
noinst_HEADERS += lib/program/policy/policy.h
libhalfulp_a_SOURCES += lib/program/policy/recipe.c
noinst_HEADERS += lib/program/policy/recipe.h
noinst_HEADERS += lib/program/policy/recipes.def
