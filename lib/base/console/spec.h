/* SPDX-License-Identifier: Apache-2.0
   Settings of what comes in kinds: the value of an option such as --optimizer is NAME[:key=value,…], or key=value,…
   alone, which sets keys of the name that is meant without it. In an option table a row whose name is OPTION:KEY is
   no option but a key of OPTION; its value is asked for by that name (hu_args_text(a, "optimizer:beta1")). A row
   OPTION:KEY= is a key that stays in OPTION's value, whose own parser reads it; without arg it, as any key, is a
   word that takes no value. A key may be given as OPTION is, several times: the last value counts. What follows a
   key's value and has no '=' continues it, so that a list needs no quotes: width=0.5,1. */
#ifndef HU_BASE_SPEC_H
#define HU_BASE_SPEC_H

#include "lib/base/console/opt.h"
#include "lib/base/str.h"

/* Returns 1 where the row is a key of an option. */
int hu_spec_is_key(const hu_opt *row);
/* Returns 1 where the row is a key of the option. */
int hu_spec_is_key_of(const hu_opt *row, const char *option);
/* Returns 1 where the option has keys. */
int hu_spec_has_keys(const hu_opt *opts, const char *option);
/* Returns the key's own name, without its option and without a last '='; it is good until the fourth call after. */
const char *hu_spec_key(const hu_opt *row);
/* Appends a row as users write it: --batch, or "--optimizer beta1=" of a key. */
void hu_spec_say(hu_str *to, const char *name);

/* Moves the keys of all options that were given to the values of their rows, so that each option's value is its name
   and the keys that stay there, "" before ':' where no name was given and the option has no default. HU_EINVAL where a
   key is unknown, with the keys that there are, or has no value. */
hu_status hu_spec_settle(hu_args *a);
/* Returns how command lines give a setting that a run's manifest has under another name, such as loss-scale:growth for
   growth-factor; the name itself where settings.def has no such row. Not to be freed. */
const char *hu_spec_setting(const char *name);
#endif
