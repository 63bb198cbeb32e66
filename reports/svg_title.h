/* SPDX-License-Identifier: Apache-2.0
   What a browser and a screen reader call a picture. */
#ifndef HU_REPORTS_SVG_TITLE_H
#define HU_REPORTS_SVG_TITLE_H

#include "lib/base/status.h"

/* Gives the SVG file PATH, which gnuplot drew, TITLE in place of the program's name. */
hu_status hu_svg_title(const char *path, const char *title);
#endif
