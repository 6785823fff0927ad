#ifndef ESPALIER_C_SHARDED_H
#define ESPALIER_C_SHARDED_H

/**
 * @file
 * Nearest neighbours of points that a device does not hold, or that several GPUs share: see espalier/espalier.h.
 */

#include "espalier/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A model of points in shards, with classes, with targets, or without labels. The points must stay where they are, and
 * as they are, until the model is freed; labels may go after the call.
 * @param devices GPUs, or the CPU
 * @param device_count how many
 * @param points the training set, in host memory, which may be a file that is mapped there
 * @param classes 0 or more, one for each point; null for another kind of model
 * @param targets one for each point; null for another kind of model
 * @param rule which neighbours are asked, and how they vote
 * @param bytes_per_device memory of each device that points may take; 0: three quarters of what a GPU has free
 * @param options threads; null for the defaults
 * @param model receives the model
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_sharded_fit(const espalier_device* const* devices, int64_t device_count,
                                                    const espalier_items* points, const int32_t* classes,
                                                    const float* targets, const espalier_neighbour_rule* rule,
                                                    size_t bytes_per_device, const espalier_options* options,
                                                    espalier_sharded_model** model) ESPALIER_C_NOEXCEPT;

/**
 * How the points were cut.
 * @param model of any kind
 * @param shards receives their number
 * @param resident receives how many of them stay on the devices
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_sharded_counts(const espalier_sharded_model* model, int64_t* shards,
                                                       int64_t* resident) ESPALIER_C_NOEXCEPT;

/**
 * The nearest points of each query, the nearest first.
 * @param model of any kind
 * @param queries of the points' attributes, in host memory
 * @param neighbours arrays for them, in host memory
 * @param options variant, deterministic, threads and progress; null for the defaults
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_sharded_kneighbors(const espalier_sharded_model* model,
                                                           const espalier_items* queries,
                                                           const espalier_neighbours* neighbours,
                                                           const espalier_options* options) ESPALIER_C_NOEXCEPT;

/**
 * Predicts classes.
 * @param model of espalier_sharded_fit() with classes
 * @param queries of the points' attributes, in host memory
 * @param classes receives one for each query; -1 for one without a neighbour that has a say
 * @param options as for espalier_sharded_kneighbors()
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_sharded_predict_classes(const espalier_sharded_model* model,
                                                                const espalier_items* queries, int32_t* classes,
                                                                const espalier_options* options) ESPALIER_C_NOEXCEPT;

/**
 * Predicts numbers.
 * @param model of espalier_sharded_fit() with targets
 * @param queries of the points' attributes, in host memory
 * @param targets receives one for each query; NaN for one without a neighbour that has a say
 * @param options as for espalier_sharded_kneighbors()
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_sharded_predict_targets(const espalier_sharded_model* model,
                                                                const espalier_items* queries, float* targets,
                                                                const espalier_options* options) ESPALIER_C_NOEXCEPT;

/**
 * Frees a model.
 * @param model a model or null
 */
ESPALIER_C_API void espalier_sharded_model_free(espalier_sharded_model* model) ESPALIER_C_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
