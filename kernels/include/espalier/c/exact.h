#ifndef ESPALIER_C_EXACT_H
#define ESPALIER_C_EXACT_H

/**
 * @file
 * Nearest neighbours in double precision: see espalier/espalier.h. All arrays are in host memory.
 */

#include "espalier/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A model that predicts classes.
 * @param device where it runs
 * @param points the training set, which may go after the call
 * @param classes 0 or more, one for each point
 * @param rule which neighbours are asked, and how they vote; k has no limit
 * @param distance null for that of the rule
 * @param options stream and threads; null for the defaults
 * @param model receives the model
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_exact_fit_classifier(const espalier_device* device,
                                                             const espalier_exact_items* points, const int32_t* classes,
                                                             const espalier_neighbour_rule* rule,
                                                             const espalier_exact_distance* distance,
                                                             const espalier_options* options,
                                                             espalier_exact_model** model) ESPALIER_C_NOEXCEPT;

/**
 * A model that predicts numbers.
 * @param device where it runs
 * @param points the training set, which may go after the call
 * @param targets one for each point
 * @param rule which neighbours are asked, and how they vote; k has no limit
 * @param distance null for that of the rule
 * @param options stream and threads; null for the defaults
 * @param model receives the model
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_exact_fit_regressor(const espalier_device* device,
                                                            const espalier_exact_items* points, const double* targets,
                                                            const espalier_neighbour_rule* rule,
                                                            const espalier_exact_distance* distance,
                                                            const espalier_options* options,
                                                            espalier_exact_model** model) ESPALIER_C_NOEXCEPT;

/**
 * A model without labels.
 * @param device where it runs
 * @param points the training set, which may go after the call
 * @param rule which neighbours are asked; its vote is of no account; k has no limit
 * @param distance null for that of the rule
 * @param options stream and threads; null for the defaults
 * @param model receives the model
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_exact_fit_neighbours(const espalier_device* device,
                                                             const espalier_exact_items* points,
                                                             const espalier_neighbour_rule* rule,
                                                             const espalier_exact_distance* distance,
                                                             const espalier_options* options,
                                                             espalier_exact_model** model) ESPALIER_C_NOEXCEPT;

/**
 * Writes a model to a file, which is complete or not there.
 * @param model of any kind
 * @param path a new file, or a regular one, which is replaced; no symbolic link
 * @return a status, ESPALIER_ERROR_BAD_FILE if it cannot be written
 */
ESPALIER_C_API espalier_status espalier_exact_model_save(const espalier_exact_model* model,
                                                         const char* path) ESPALIER_C_NOEXCEPT;

/**
 * The model that espalier_exact_model_save() wrote of espalier_exact_fit_classifier().
 * @param device where it runs, any
 * @param path the file
 * @param options stream and threads; null for the defaults
 * @param model receives the model
 * @return a status, ESPALIER_ERROR_BAD_FILE for a file that is damaged or none of such a model
 */
ESPALIER_C_API espalier_status espalier_exact_load_classifier(const espalier_device* device, const char* path,
                                                              const espalier_options* options,
                                                              espalier_exact_model** model) ESPALIER_C_NOEXCEPT;

/**
 * The model that espalier_exact_model_save() wrote of espalier_exact_fit_regressor().
 * @param device where it runs, any
 * @param path the file
 * @param options stream and threads; null for the defaults
 * @param model receives the model
 * @return a status, ESPALIER_ERROR_BAD_FILE for a file that is damaged or none of such a model
 */
ESPALIER_C_API espalier_status espalier_exact_load_regressor(const espalier_device* device, const char* path,
                                                             const espalier_options* options,
                                                             espalier_exact_model** model) ESPALIER_C_NOEXCEPT;

/**
 * The model that espalier_exact_model_save() wrote of espalier_exact_fit_neighbours().
 * @param device where it runs, any
 * @param path the file
 * @param options stream and threads; null for the defaults
 * @param model receives the model
 * @return a status, ESPALIER_ERROR_BAD_FILE for a file that is damaged or none of such a model
 */
ESPALIER_C_API espalier_status espalier_exact_load_neighbours(const espalier_device* device, const char* path,
                                                              const espalier_options* options,
                                                              espalier_exact_model** model) ESPALIER_C_NOEXCEPT;

/**
 * Predicts classes.
 * @param model of espalier_exact_fit_classifier()
 * @param queries of the points' attributes
 * @param classes receives one for each query; -1 for one without a neighbour that has a say
 * @param neighbours arrays for those that voted, or null
 * @param options null for the defaults
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_exact_predict_classes(const espalier_exact_model* model,
                                                              const espalier_exact_items* queries, int32_t* classes,
                                                              const espalier_exact_neighbours* neighbours,
                                                              const espalier_options* options) ESPALIER_C_NOEXCEPT;

/**
 * Predicts numbers.
 * @param model of espalier_exact_fit_regressor()
 * @param queries of the points' attributes
 * @param targets receives one for each query; NaN for one without a neighbour that has a say
 * @param neighbours arrays for those that voted, or null
 * @param options null for the defaults
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_exact_predict_targets(const espalier_exact_model* model,
                                                              const espalier_exact_items* queries, double* targets,
                                                              const espalier_exact_neighbours* neighbours,
                                                              const espalier_options* options) ESPALIER_C_NOEXCEPT;

/**
 * Predicts classes by all neighbours within a radius.
 * @param model of espalier_exact_fit_classifier()
 * @param queries of the points' attributes
 * @param radius 0 or more, may be infinite
 * @param classes receives one for each query; -1 for one without a neighbour
 * @param options null for the defaults
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_exact_predict_classes_within(
    const espalier_exact_model* model, const espalier_exact_items* queries, double radius, int32_t* classes,
    const espalier_options* options) ESPALIER_C_NOEXCEPT;

/**
 * Predicts numbers by all neighbours within a radius.
 * @param model of espalier_exact_fit_regressor()
 * @param queries of the points' attributes
 * @param radius 0 or more, may be infinite
 * @param targets receives one for each query; NaN for one without a neighbour
 * @param options null for the defaults
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_exact_predict_targets_within(
    const espalier_exact_model* model, const espalier_exact_items* queries, double radius, double* targets,
    const espalier_options* options) ESPALIER_C_NOEXCEPT;

/**
 * The share of the votes that each class has of the neighbours of each query.
 * @param model of espalier_exact_fit_classifier()
 * @param queries of the points' attributes
 * @param class_count that of espalier_exact_class_count()
 * @param shares receives class_count numbers for each query, which sum to 1; NaN for one without a neighbour
 * @param options null for the defaults
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_exact_predict_shares(const espalier_exact_model* model,
                                                             const espalier_exact_items* queries, int64_t class_count,
                                                             double* shares,
                                                             const espalier_options* options) ESPALIER_C_NOEXCEPT;

/**
 * How many classes a classifier knows.
 * @param model a model
 * @return one more than the points' largest class; 0 without points, of another kind and for null
 */
ESPALIER_C_API int64_t espalier_exact_class_count(const espalier_exact_model* model) ESPALIER_C_NOEXCEPT;

/**
 * The nearest points of each query, the nearest first.
 * @param model of any kind
 * @param queries of the points' attributes
 * @param neighbours arrays for them
 * @param options null for the defaults
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_exact_kneighbors(const espalier_exact_model* model,
                                                         const espalier_exact_items* queries,
                                                         const espalier_exact_neighbours* neighbours,
                                                         const espalier_options* options) ESPALIER_C_NOEXCEPT;

/**
 * All points within a radius of each query, that of the radius included.
 * @param model of any kind
 * @param queries of the points' attributes
 * @param radius 0 or more, may be infinite
 * @param options null for the defaults
 * @param lists receives the lists, with espalier_radius_lists_exact_distances(), to be freed by
 * espalier_radius_lists_free()
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_exact_radius_neighbours(const espalier_exact_model* model,
                                                                const espalier_exact_items* queries, double radius,
                                                                const espalier_options* options,
                                                                espalier_radius_lists** lists) ESPALIER_C_NOEXCEPT;

/**
 * What the device would run for so many queries, and why.
 * @param model of any kind
 * @param queries how many
 * @param missing an ESPALIER_MISSING_: whether some of them have missing cells
 * @param options variant and deterministic; null for the defaults
 * @param text receives several lines, to be freed by espalier_free_text()
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_exact_explain_predict(const espalier_exact_model* model, int64_t queries,
                                                              int32_t missing, const espalier_options* options,
                                                              char** text) ESPALIER_C_NOEXCEPT;

/**
 * How much host memory predictions for so many queries take beside the caller's arrays and the device's part.
 * @param model a model
 * @param queries how many
 * @return bytes; 0 for null
 */
ESPALIER_C_API size_t espalier_exact_predict_bytes(const espalier_exact_model* model,
                                                   int64_t queries) ESPALIER_C_NOEXCEPT;

/**
 * Frees a model, whose calls must be over.
 * @param model a model or null
 */
ESPALIER_C_API void espalier_exact_model_free(espalier_exact_model* model) ESPALIER_C_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
