/* SPDX-License-Identifier: Apache-2.0
   Routers of a mixture of experts, as programs have them. */
#ifndef HU_PROGRAM_ROUTERS_H
#define HU_PROGRAM_ROUTERS_H

/* The role of a tensor [tokens, experts] in which a router says by 1 and 0 which experts each token is sent to. */
#define HU_ROLE_CHOSEN "chosen"
#endif
