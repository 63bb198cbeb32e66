/* SPDX-License-Identifier: Apache-2.0
   Makes the lines of --help that list a table's rows from the rows. */
#include "trainer/run/config.h"

const char hu_options_model[] = "model to train"
#define MODEL(id, optimizer, lr, batch, inputs, options, summary) "; " #id ": " summary
#include "trainer/model/models.def"
#undef MODEL
;

const char hu_options_preset[] = "published sizes; options on the line go before those of the preset"
#define PRESET(name, model, options, summary) "; " name ": " summary
#include "trainer/model/presets.def"
#undef PRESET
;

const char hu_options_batch[] = "samples in a step [the model's"
#define MODEL(id, optimizer, lr, batch, inputs, options, summary) ", " #id ": " #batch
#include "trainer/model/models.def"
#undef MODEL
"]";

const char hu_options_data[] = "data to train on [the first of these without a file that has what the model reads]"
#define DATASET(id, argument, reads, summary) "; " #id argument ": " summary
#include "trainer/data/datasets.def"
#undef DATASET
;

const char hu_options_augment[] =
	"random changes of images and signals for training, separated by commas; each epoch draws anew [none]"
#define AUGMENT(name, how, argument, least, most, none, summary) "; " #name argument ": " summary
#include "trainer/data/augments.def"
#undef AUGMENT
;

const char hu_options_optimizer[] = "optimizer that turns gradients into updates, one of"
#define OPTIM(id, lr, momentum, wd, casts, reads, summary) " " #id
#include "trainer/optim/optims.def"
#undef OPTIM
", with its keys, as in adamw:beta2=0.95,state=bf16"
" [the model's"
#define MODEL(id, optimizer, lr, batch, inputs, options, summary) ", " #id ": " optimizer
#include "trainer/model/models.def"
#undef MODEL
"]";

const char hu_options_lr[] = "learning rate [the model's with its own optimizer, else the optimizer's"
#define OPTIM(id, lr, momentum, wd, casts, reads, summary) ", " #id ": " #lr
#include "trainer/optim/optims.def"
#undef OPTIM
"]";

const char hu_options_schedule[] =
	"how the learning rate changes with the step's number, skipped steps included"
#define SCHEDULE(name, reads, summary) "; " #name ": " summary
#include "lib/op/schedules.def"
#undef SCHEDULE
;

const char hu_options_losses[] = ""
#define LOSS(name, id, views, reads, summary) " " name
#include "trainer/model/loss/losses.def"
#undef LOSS
;

const char hu_options_loss[] = "what the training makes smaller"
#define LOSS(name, id, views, reads, summary) "; " name ": " summary
#include "trainer/model/loss/losses.def"
#undef LOSS
" [cross-entropy]";

const char hu_options_momentum[] = "share of the last update that is added to the next [the optimizer's"
#define OPTIM(id, lr, momentum, wd, casts, reads, summary) ", " #id ": " #momentum
#include "trainer/optim/optims.def"
#undef OPTIM
"]";

const char hu_options_weight_decay[] =
	"share of a weight, times the learning rate, that an update subtracts [the optimizer's"
#define OPTIM(id, lr, momentum, wd, casts, reads, summary) ", " #id ": " #wd
#include "trainer/optim/optims.def"
#undef OPTIM
"]";

const char hu_options_loss_scale[] = "dynamic (which is the rule pytorch), static:S, or the name of a rule:"
#define SCALER(name, init, growth, backoff, interval, floor, cap, hysteresis, wide, reads) " " #name
#include "lib/op/scalers.def"
#undef SCALER
" [dynamic for float16 over float32 variables, else none]";

const char hu_options_model_names[] = ""
#define OPTION(kind, member, name, min, max, argument, def, help) name " "
#define WORD(option, argument, def, help) option " "
#include "trainer/run/options_model.def"
;
