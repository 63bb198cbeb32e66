/* SPDX-License-Identifier: Apache-2.0
   A folder of images with a folder for each class, as torchvision's ImageFolder and Keras's
   image_dataset_from_directory read them. */
#ifndef HU_TRAINER_DATA_IMAGES_FOLDER_H
#define HU_TRAINER_DATA_IMAGES_FOLDER_H

#include "lib/base/status.h"

#include <stddef.h>
#include <stdint.h>

/* An image. path begins with the folder; bytes is the file's length. nth counts the images of its class from 0. */
typedef struct hu_image_file {
	char *path;
	size_t label, nth;
	uint64_t bytes;
} hu_image_file;

/* Classes in the order of their names' bytes. The images to train on come first, then those to evaluate on, each in
   rounds of one from every class, so that the first few are of all classes. */
typedef struct hu_image_folder {
	char **class;
	size_t nclass, n_train, n_eval;
	hu_image_file *file;
} hu_image_folder;

/* Lists DIR: with a folder DIR/train its classes are to train on, and those of DIR/val, DIR/valid, DIR/validation or
   DIR/test, the first of them that is there, to evaluate on; without, every tenth image of each class is to evaluate
   on, and the last one of a class with fewer. Images are files that end in .jpg, .jpeg or .png, in the class's folder
   or below; hidden files and folders are left out. HU_EFILE says which folder is missing, empty or of no known class.
   */
hu_status hu_image_folder_list(hu_image_folder *f, const char *dir);
/* Keeps the first `train` and `eval` images of each part; 0 keeps all. */
void hu_image_folder_limit(hu_image_folder *f, size_t train, size_t eval);
/* Sets *digest to a checksum of the classes' names and of every image's path below DIR, its length, and 4 KiB from its
   middle, which is all of a smaller file: what changes elsewhere in a larger file of the same length is not seen
   (hu_dataset_read_rows sees it once it is read). It is the same on every machine. HU_EFILE names a file that cannot be
   read. */
hu_status hu_image_folder_digest(const hu_image_folder *f, const char *dir, uint64_t *digest);
void hu_image_folder_release(hu_image_folder *f);
#endif
