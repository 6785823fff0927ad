#ifndef ESPALIER_ESPALIER_H
#define ESPALIER_ESPALIER_H

/**
 * @file
 * Espalier for C, and for every language that calls C. C99. What each function computes, its limits and its errors are
 * those of the C++ function of the same name (espalier/espalier.hpp).
 *
 * - Every function that can fail returns a status: 0 for success, else an `ESPALIER_ERROR_`. The message, which names
 *   the fix, is the thread's last one: `espalier_last_error()`, as in FAISS's C API, so that all functions have one
 * shape and a binding asks when it needs to. No exception leaves a function, and none ends the program.
 * - Enumerations are passed as `int32_t`; a value that is none of them is ESPALIER_ERROR_INVALID_ARGUMENT.
 * - Structs begin with `size`, the sizeof of the caller's header, and 0 is the default of every other member, so that
 *   later versions can add some: `espalier_options options = {sizeof options};`. A size that is none, or newer members
 *   that are not 0, are errors.
 * - Matrices are row-major unless asked for otherwise. A stride is the distance of two rows: in elements of a matrix,
 * in bytes of an image; 0 means that they lie side by side. Of coherent sums this version takes no other
 * (ESPALIER_ERROR_UNSUPPORTED).
 * - Handles are freed by the function of their name, which does nothing for null. Any number of threads may use one.
 */

#include "espalier/c/arrays.h"
#include "espalier/c/exact.h"
#include "espalier/c/general.h"
#include "espalier/c/neighbours.h"
#include "espalier/c/sharded.h"
#include "espalier/c/traces.h"
#include "espalier/c/types.h"

#endif
