#ifndef ESPALIER_C_NEIGHBOURS_H
#define ESPALIER_C_NEIGHBOURS_H

/**
 * @file
 * Distances, selections and nearest neighbours: see espalier/espalier.h.
 */

#include "espalier/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The distance of every query to every point.
 * @param device where it runs
 * @param queries one set of items
 * @param points the other, of as many attributes
 * @param rule null for Euclidean distances
 * @param result receives queries * points distances
 * @param stride from one query (of ESPALIER_COLUMN_MAJOR: point) of the result to the next; 0: dense
 * @param layout of the result, which has a row for each query: ESPALIER_ROW_MAJOR or ESPALIER_COLUMN_MAJOR
 * @param options null for the defaults
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_pairwise_distances(const espalier_device* device, const espalier_items* queries,
                                                           const espalier_items* points,
                                                           const espalier_distance_rule* rule, float* result,
                                                           int64_t stride, int32_t layout,
                                                           const espalier_options* options) ESPALIER_C_NOEXCEPT;

/**
 * A plan for espalier_pairwise_distances(), which reads no values of the sets.
 * @param device where it runs
 * @param queries one set of items
 * @param points the other, of as many attributes
 * @param rule null for Euclidean distances
 * @param stride from one query (of ESPALIER_COLUMN_MAJOR: point) of the result to the next; 0: dense
 * @param layout of the result, which has a row for each query: ESPALIER_ROW_MAJOR or ESPALIER_COLUMN_MAJOR
 * @param options all but stream, asynchronous and progress; null for the defaults
 * @param plan receives the plan
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_plan_pairwise_distances(const espalier_device* device,
                                                                const espalier_items* queries,
                                                                const espalier_items* points,
                                                                const espalier_distance_rule* rule, int64_t stride,
                                                                int32_t layout, const espalier_options* options,
                                                                espalier_plan** plan) ESPALIER_C_NOEXCEPT;

/**
 * Does what espalier_pairwise_distances() does, in a plan.
 * @param plan of espalier_plan_pairwise_distances()
 * @param queries one set of items
 * @param points the other, of as many attributes
 * @param result receives queries * points distances
 * @param stream a cudaStream_t, null for the CPU and for the default stream
 * @param workspace memory of the device, aligned to 512 bytes (64 on the CPU); null if none is needed
 * @param workspace_bytes its size, at least espalier_plan_workspace_bytes()
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_pairwise_distances_run(const espalier_plan* plan, const espalier_items* queries,
                                                               const espalier_items* points, float* result,
                                                               void* stream, void* workspace,
                                                               size_t workspace_bytes) ESPALIER_C_NOEXCEPT;

/**
 * What espalier_pairwise_distances() would run, and why.
 * @param device where it runs
 * @param queries one set of items
 * @param points the other, of as many attributes
 * @param rule null for Euclidean distances
 * @param stride from one query (of ESPALIER_COLUMN_MAJOR: point) of the result to the next; 0: dense
 * @param layout of the result, which has a row for each query: ESPALIER_ROW_MAJOR or ESPALIER_COLUMN_MAJOR
 * @param options variant, deterministic and threads; null for the defaults
 * @param text receives several lines, to be freed by espalier_free_text()
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_explain_pairwise_distances(const espalier_device* device,
                                                                   const espalier_items* queries,
                                                                   const espalier_items* points,
                                                                   const espalier_distance_rule* rule, int64_t stride,
                                                                   int32_t layout, const espalier_options* options,
                                                                   char** text) ESPALIER_C_NOEXCEPT;

/**
 * The k smallest of each row, with their columns.
 * @param device where it runs
 * @param shape what is selected from what
 * @param keys rows * columns numbers of the shape's type
 * @param values receives rows * k of them
 * @param indices receives the columns that they are from; -1 beyond the last one
 * @param options null for the defaults
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_select_smallest_k(const espalier_device* device,
                                                          const espalier_selection_shape* shape, const void* keys,
                                                          void* values, int32_t* indices,
                                                          const espalier_options* options) ESPALIER_C_NOEXCEPT;

/**
 * A plan for espalier_select_smallest_k().
 * @param device where it runs
 * @param shape what is selected from what
 * @param options all but stream, asynchronous and progress; null for the defaults
 * @param plan receives the plan
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_plan_select_smallest_k(const espalier_device* device,
                                                               const espalier_selection_shape* shape,
                                                               const espalier_options* options,
                                                               espalier_plan** plan) ESPALIER_C_NOEXCEPT;

/**
 * Does what espalier_select_smallest_k() does, in a plan.
 * @param plan of espalier_plan_select_smallest_k()
 * @param shape as the plan's
 * @param keys rows * columns numbers of the shape's type
 * @param values receives rows * k of them
 * @param indices receives the columns that they are from; -1 beyond the last one
 * @param stream a cudaStream_t, null for the CPU and for the default stream
 * @param workspace memory of the device, aligned to 512 bytes (64 on the CPU); null if none is needed
 * @param workspace_bytes its size, at least espalier_plan_workspace_bytes()
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_select_smallest_k_run(const espalier_plan* plan,
                                                              const espalier_selection_shape* shape, const void* keys,
                                                              void* values, int32_t* indices, void* stream,
                                                              void* workspace,
                                                              size_t workspace_bytes) ESPALIER_C_NOEXCEPT;

/**
 * What espalier_select_smallest_k() would run, and why.
 * @param device where it runs
 * @param shape what is selected from what
 * @param options variant, deterministic and threads; null for the defaults
 * @param text receives several lines, to be freed by espalier_free_text()
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_explain_select_smallest_k(const espalier_device* device,
                                                                  const espalier_selection_shape* shape,
                                                                  const espalier_options* options,
                                                                  char** text) ESPALIER_C_NOEXCEPT;

/**
 * A model that predicts classes.
 * @param device where it runs
 * @param points the training set, which may go after the call
 * @param classes 0 or more, one for each point
 * @param rule which neighbours are asked, and how they vote
 * @param options null for the defaults
 * @param model receives the model
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_fit_classifier(const espalier_device* device, const espalier_items* points,
                                                       const int32_t* classes, const espalier_neighbour_rule* rule,
                                                       const espalier_options* options,
                                                       espalier_model** model) ESPALIER_C_NOEXCEPT;

/**
 * A model that predicts numbers.
 * @param device where it runs
 * @param points the training set, which may go after the call
 * @param targets one for each point
 * @param rule which neighbours are asked, and how they vote
 * @param options null for the defaults
 * @param model receives the model
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_fit_regressor(const espalier_device* device, const espalier_items* points,
                                                      const float* targets, const espalier_neighbour_rule* rule,
                                                      const espalier_options* options,
                                                      espalier_model** model) ESPALIER_C_NOEXCEPT;

/**
 * A model without labels, for espalier_kneighbors() and espalier_radius_neighbours().
 * @param device where it runs
 * @param points the points, which may go after the call
 * @param rule which neighbours are listed; its vote is of no account
 * @param options null for the defaults
 * @param model receives the model
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_fit_neighbours(const espalier_device* device, const espalier_items* points,
                                                       const espalier_neighbour_rule* rule,
                                                       const espalier_options* options,
                                                       espalier_model** model) ESPALIER_C_NOEXCEPT;

/**
 * The same training set, for queries with missing cells: ESPALIER_MISSING_ALLOWED, whatever the model was fitted with.
 * @param model of any kind
 * @param other receives another model, which shares the training set
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_model_allowing_missing(const espalier_model* model,
                                                               espalier_model** other) ESPALIER_C_NOEXCEPT;

/**
 * Writes a model to a file, which is complete or not there.
 * @param model of any kind
 * @param path a new file, or a regular one, which is replaced; no symbolic link
 * @return a status, ESPALIER_ERROR_BAD_FILE if it cannot be written
 */
ESPALIER_C_API espalier_status espalier_model_save(const espalier_model* model, const char* path) ESPALIER_C_NOEXCEPT;

/**
 * The model that espalier_model_save() wrote of espalier_fit_classifier().
 * @param device where it runs, any
 * @param path the file
 * @param options stream and threads; null for the defaults
 * @param model receives the model
 * @return a status, ESPALIER_ERROR_BAD_FILE for a file that is damaged or none of such a model
 */
ESPALIER_C_API espalier_status espalier_load_classifier(const espalier_device* device, const char* path,
                                                        const espalier_options* options,
                                                        espalier_model** model) ESPALIER_C_NOEXCEPT;

/**
 * The model that espalier_model_save() wrote of espalier_fit_regressor().
 * @param device where it runs, any
 * @param path the file
 * @param options stream and threads; null for the defaults
 * @param model receives the model
 * @return a status, ESPALIER_ERROR_BAD_FILE for a file that is damaged or none of such a model
 */
ESPALIER_C_API espalier_status espalier_load_regressor(const espalier_device* device, const char* path,
                                                       const espalier_options* options,
                                                       espalier_model** model) ESPALIER_C_NOEXCEPT;

/**
 * The model that espalier_model_save() wrote of espalier_fit_neighbours().
 * @param device where it runs, any
 * @param path the file
 * @param options stream and threads; null for the defaults
 * @param model receives the model
 * @return a status, ESPALIER_ERROR_BAD_FILE for a file that is damaged or none of such a model
 */
ESPALIER_C_API espalier_status espalier_load_neighbours(const espalier_device* device, const char* path,
                                                        const espalier_options* options,
                                                        espalier_model** model) ESPALIER_C_NOEXCEPT;

/**
 * Predicts classes.
 * @param model of espalier_fit_classifier()
 * @param queries of the points' attributes
 * @param classes receives one for each query; -1 for one without a neighbour that has a say
 * @param neighbours arrays for those that voted, or null
 * @param options null for the defaults
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_predict_classes(const espalier_model* model, const espalier_items* queries,
                                                        int32_t* classes, const espalier_neighbours* neighbours,
                                                        const espalier_options* options) ESPALIER_C_NOEXCEPT;

/**
 * Predicts numbers.
 * @param model of espalier_fit_regressor()
 * @param queries of the points' attributes
 * @param targets receives one for each query; NaN for one without a neighbour that has a say
 * @param neighbours arrays for those that voted, or null
 * @param options null for the defaults
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_predict_targets(const espalier_model* model, const espalier_items* queries,
                                                        float* targets, const espalier_neighbours* neighbours,
                                                        const espalier_options* options) ESPALIER_C_NOEXCEPT;

/**
 * The nearest points of each query, the nearest first.
 * @param model of any kind
 * @param queries of the points' attributes
 * @param neighbours arrays for them
 * @param options null for the defaults
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_kneighbors(const espalier_model* model, const espalier_items* queries,
                                                   const espalier_neighbours* neighbours,
                                                   const espalier_options* options) ESPALIER_C_NOEXCEPT;

/**
 * All points within a radius of each query, that of the radius included.
 * @param model of espalier_fit_neighbours()
 * @param queries of the points' attributes
 * @param radius 0 or more
 * @param most neighbours of all queries together, of 8 bytes each: more are an error; 0: 2^28
 * @param options null for the defaults
 * @param lists receives the lists, to be freed by espalier_radius_lists_free()
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_radius_neighbours(const espalier_model* model, const espalier_items* queries,
                                                          float radius, int64_t most, const espalier_options* options,
                                                          espalier_radius_lists** lists) ESPALIER_C_NOEXCEPT;

/**
 * Where each list begins: that of query q is entries offsets[q] up to, without, offsets[q + 1], the nearest first.
 * @param lists the lists
 * @return one more number than there are queries, valid as long as the lists; null for null
 */
ESPALIER_C_API const int64_t* espalier_radius_lists_offsets(const espalier_radius_lists* lists) ESPALIER_C_NOEXCEPT;

/**
 * Which points they are.
 * @param lists the lists
 * @return one number for each entry; null for null and if there are none
 */
ESPALIER_C_API const int32_t* espalier_radius_lists_indices(const espalier_radius_lists* lists) ESPALIER_C_NOEXCEPT;

/**
 * Their distances.
 * @param lists the lists
 * @return one number for each entry; null for null, if there are none, and for lists in double precision
 */
ESPALIER_C_API const float* espalier_radius_lists_distances(const espalier_radius_lists* lists) ESPALIER_C_NOEXCEPT;

/**
 * Their distances in double precision.
 * @param lists of espalier_exact_radius_neighbours()
 * @return one number for each entry; null for null, if there are none, and for lists in single precision
 */
ESPALIER_C_API const double* espalier_radius_lists_exact_distances(const espalier_radius_lists* lists)
    ESPALIER_C_NOEXCEPT;

/**
 * Frees lists.
 * @param lists lists or null
 */
ESPALIER_C_API void espalier_radius_lists_free(espalier_radius_lists* lists) ESPALIER_C_NOEXCEPT;

/**
 * A plan for predictions and neighbours of so many queries.
 * @param model of any kind
 * @param queries their number and layout; no values are read
 * @param predictions not 0: classes or targets are wanted; 0 for a model without labels
 * @param distances not 0: the neighbours' distances are
 * @param indices not 0: their indices are
 * @param stride of the lists of neighbours, as in espalier_neighbours
 * @param layout of the lists of neighbours, as in espalier_neighbours
 * @param options all but stream, asynchronous and progress; null for the defaults
 * @param plan receives the plan
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_plan_predict(const espalier_model* model, const espalier_items* queries,
                                                     int32_t predictions, int32_t distances, int32_t indices,
                                                     int64_t stride, int32_t layout, const espalier_options* options,
                                                     espalier_plan** plan) ESPALIER_C_NOEXCEPT;

/**
 * Does what espalier_predict_classes() and espalier_kneighbors() do, in a plan of a classifier.
 * @param plan of espalier_plan_predict()
 * @param queries of the points' attributes
 * @param classes as of espalier_predict_classes(); null if they are not wanted
 * @param neighbours arrays for what the plan lists, in its layout; or null
 * @param stream a cudaStream_t, null for the CPU and for the default stream
 * @param workspace memory of the device, aligned to 512 bytes (64 on the CPU); null if none is needed
 * @param workspace_bytes its size, at least espalier_plan_workspace_bytes()
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_predict_classes_run(const espalier_plan* plan, const espalier_items* queries,
                                                            int32_t* classes, const espalier_neighbours* neighbours,
                                                            void* stream, void* workspace,
                                                            size_t workspace_bytes) ESPALIER_C_NOEXCEPT;

/**
 * Does what espalier_predict_targets() and espalier_kneighbors() do, in a plan of a regressor.
 * @param plan of espalier_plan_predict()
 * @param queries of the points' attributes
 * @param targets as of espalier_predict_targets(); null if they are not wanted
 * @param neighbours arrays for what the plan lists, in its layout; or null
 * @param stream a cudaStream_t, null for the CPU and for the default stream
 * @param workspace memory of the device, aligned to 512 bytes (64 on the CPU); null if none is needed
 * @param workspace_bytes its size, at least espalier_plan_workspace_bytes()
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_predict_targets_run(const espalier_plan* plan, const espalier_items* queries,
                                                            float* targets, const espalier_neighbours* neighbours,
                                                            void* stream, void* workspace,
                                                            size_t workspace_bytes) ESPALIER_C_NOEXCEPT;

/**
 * Does what espalier_kneighbors() does, in a plan without predictions.
 * @param plan of espalier_plan_predict()
 * @param queries of the points' attributes
 * @param neighbours arrays for what the plan lists, in its layout
 * @param stream a cudaStream_t, null for the CPU and for the default stream
 * @param workspace memory of the device, aligned to 512 bytes (64 on the CPU); null if none is needed
 * @param workspace_bytes its size, at least espalier_plan_workspace_bytes()
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_kneighbors_run(const espalier_plan* plan, const espalier_items* queries,
                                                       const espalier_neighbours* neighbours, void* stream,
                                                       void* workspace, size_t workspace_bytes) ESPALIER_C_NOEXCEPT;

/**
 * What predictions and neighbours of so many queries would run, and why.
 * @param model of any kind
 * @param queries how many
 * @param options variant, deterministic and memory; null for the defaults
 * @param text receives several lines, to be freed by espalier_free_text()
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_explain_predict(const espalier_model* model, int64_t queries,
                                                        const espalier_options* options,
                                                        char** text) ESPALIER_C_NOEXCEPT;

/**
 * Frees a model, whose calls must be over; its plans stay.
 * @param model a model or null
 */
ESPALIER_C_API void espalier_model_free(espalier_model* model) ESPALIER_C_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
