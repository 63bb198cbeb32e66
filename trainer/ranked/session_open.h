/* SPDX-License-Identifier: Apache-2.0
   Opening a session, by one process or by ranks that share it. */
#ifndef HU_TRAINER_SESSION_OPEN_H
#define HU_TRAINER_SESSION_OPEN_H

#include "trainer/run/session.h"

/* Opens a session; it takes over data, whether this succeeds or not. The state is not set: hu_session_start or
   hu_session_restore does that. */
hu_status hu_session_open(hu_session *s, const hu_config *c, hu_dataset *data);
#endif
