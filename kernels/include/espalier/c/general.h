#ifndef ESPALIER_C_GENERAL_H
#define ESPALIER_C_GENERAL_H

/**
 * @file
 * Errors, devices, explanations, and what all plans share: see espalier/espalier.h.
 */

#include "espalier/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The message of the calling thread's last function that failed.
 * @return a text that stays until the thread's next failure, "" if there was none; never null
 */
ESPALIER_C_API const char* espalier_last_error(void) ESPALIER_C_NOEXCEPT;

/**
 * The version of the library that is linked.
 * @return such as "0.1.0"
 */
ESPALIER_C_API const char* espalier_version(void) ESPALIER_C_NOEXCEPT;

/**
 * Frees a text that a function returned.
 * @param text null or such a text
 */
ESPALIER_C_API void espalier_free_text(char* text) ESPALIER_C_NOEXCEPT;

/**
 * Makes the library choose by trees from files, see espalier::load_selectors.
 * @param path a tree's file, or a folder of them
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_load_selectors(const char* path) ESPALIER_C_NOEXCEPT;

/**
 * Reads what plans measured from a file, see espalier::load_wisdom. Lines that are damaged or stale are ignored.
 * @param path the file
 * @param entries receives how many entries are in use from now on; null if nobody wants to know
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_load_wisdom(const char* path, int64_t* entries) ESPALIER_C_NOEXCEPT;

/**
 * Writes what plans measured to a file, see espalier::save_wisdom.
 * @param path the file, which is replaced
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_save_wisdom(const char* path) ESPALIER_C_NOEXCEPT;

/** Makes the library choose by its trees again, see espalier::forget_wisdom. */
ESPALIER_C_API void espalier_forget_wisdom(void) ESPALIER_C_NOEXCEPT;

/**
 * This machine's CPU.
 * @param device receives the handle
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_device_cpu(espalier_device** device) ESPALIER_C_NOEXCEPT;

/**
 * One of this machine's GPUs.
 * @param ordinal its number, as CUDA counts
 * @param device receives the handle
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_device_cuda(int32_t ordinal, espalier_device** device) ESPALIER_C_NOEXCEPT;

/**
 * The first GPU if one is usable, else the CPU.
 * @param device receives the handle
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_device_best(espalier_device** device) ESPALIER_C_NOEXCEPT;

/**
 * Which GPU a device is.
 * @param device a device
 * @return its number, or -1 for the CPU and for null
 */
ESPALIER_C_API int32_t espalier_device_ordinal(const espalier_device* device) ESPALIER_C_NOEXCEPT;

/**
 * What selectors are filed under.
 * @param device a device
 * @return such as "nvidia-h200", valid as long as the program runs; "" for null
 */
ESPALIER_C_API const char* espalier_device_key(const espalier_device* device) ESPALIER_C_NOEXCEPT;

/**
 * A device in one line.
 * @param device a device
 * @return its name, key and traits, valid as long as the program runs; "" for null
 */
ESPALIER_C_API const char* espalier_device_description(const espalier_device* device) ESPALIER_C_NOEXCEPT;

/**
 * Frees the handle.
 * @param device a device or null
 */
ESPALIER_C_API void espalier_device_free(espalier_device* device) ESPALIER_C_NOEXCEPT;

/**
 * Explains the choice for any family and problem that this program links, without running anything.
 * @param device where it would run
 * @param family such as "dot"
 * @param problem a problem's key, such as "elements=1000"; what it leaves out has the family's default
 * @param options null for the defaults
 * @param text receives several lines, to be freed by espalier_free_text()
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_explain(const espalier_device* device, const char* family, const char* problem,
                                                const espalier_options* options, char** text) ESPALIER_C_NOEXCEPT;

/**
 * How much memory a run of a plan needs.
 * @param plan a plan
 * @return bytes, in the device's memory; 0 for null
 */
ESPALIER_C_API size_t espalier_plan_workspace_bytes(const espalier_plan* plan) ESPALIER_C_NOEXCEPT;

/**
 * Whether equal runs of a plan give equal bits.
 * @param plan a plan
 * @return 1 if so, also for null; else 0
 */
ESPALIER_C_API int32_t espalier_plan_deterministic(const espalier_plan* plan) ESPALIER_C_NOEXCEPT;

/**
 * What a plan runs, and why.
 * @param plan a plan
 * @param text receives several lines, to be freed by espalier_free_text()
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_plan_explain(const espalier_plan* plan, char** text) ESPALIER_C_NOEXCEPT;

/**
 * Frees a plan, whose runs must be over.
 * @param plan a plan or null
 */
ESPALIER_C_API void espalier_plan_free(espalier_plan* plan) ESPALIER_C_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
