/* SPDX-License-Identifier: Apache-2.0
   Zip archives that libzip writes into an output file of ours (hu_outfile): under a temporary name, flushed to the disk
   and then renamed. Left to itself, libzip makes a temporary file of its own, which a killed process leaves behind. */
#ifndef HU_STORE_ZIP_OUT_H
#define HU_STORE_ZIP_OUT_H

#include "lib/base/file.h"

#include <zip.h>

/* Opens a new archive that will be written to o, which the caller has opened and commits or abandons after zip_close or
   zip_discard. NULL where libzip refuses, with its reason in e. */
zip_t *hu_zip_out(hu_outfile *o, zip_error_t *e);
#endif
