#ifndef ESPALIER_C_ARRAYS_H
#define ESPALIER_C_ARRAYS_H

/**
 * @file
 * Inner products, histograms, filters and coherent sums: see espalier/espalier.h.
 */

#include "espalier/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The inner product of two vectors.
 * @param device where it runs
 * @param elements of each vector
 * @param a one vector
 * @param b the other
 * @param result receives one number
 * @param options null for the defaults
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_dot_product(const espalier_device* device, int64_t elements, const float* a,
                                                    const float* b, float* result,
                                                    const espalier_options* options) ESPALIER_C_NOEXCEPT;

/**
 * A plan for espalier_dot_product().
 * @param device where it runs
 * @param elements of each vector
 * @param options all but stream, asynchronous and progress; null for the defaults
 * @param plan receives the plan
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_plan_dot_product(const espalier_device* device, int64_t elements,
                                                         const espalier_options* options,
                                                         espalier_plan** plan) ESPALIER_C_NOEXCEPT;

/**
 * Does what espalier_dot_product() does, in a plan.
 * @param plan of espalier_plan_dot_product()
 * @param elements as the plan's
 * @param a one vector
 * @param b the other
 * @param result receives one number
 * @param stream a cudaStream_t, null for the CPU and for the default stream
 * @param workspace memory of the device, aligned to 512 bytes (64 on the CPU); null if none is needed
 * @param workspace_bytes its size, at least espalier_plan_workspace_bytes()
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_dot_product_run(const espalier_plan* plan, int64_t elements, const float* a,
                                                        const float* b, float* result, void* stream, void* workspace,
                                                        size_t workspace_bytes) ESPALIER_C_NOEXCEPT;

/**
 * What espalier_dot_product() would run, and why.
 * @param device where it runs
 * @param elements of each vector
 * @param options variant, deterministic and threads; null for the defaults
 * @param text receives several lines, to be freed by espalier_free_text()
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_explain_dot_product(const espalier_device* device, int64_t elements,
                                                            const espalier_options* options,
                                                            char** text) ESPALIER_C_NOEXCEPT;

/**
 * How often each of the 256 values occurs among bytes.
 * @param device where it runs
 * @param size how many bytes
 * @param bytes the bytes
 * @param counts receives 256 numbers
 * @param options null for the defaults
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_count_bytes(const espalier_device* device, int64_t size, const uint8_t* bytes,
                                                    uint64_t* counts,
                                                    const espalier_options* options) ESPALIER_C_NOEXCEPT;

/**
 * A plan for espalier_count_bytes().
 * @param device where it runs
 * @param size how many bytes
 * @param options all but stream, asynchronous and progress; null for the defaults
 * @param plan receives the plan
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_plan_count_bytes(const espalier_device* device, int64_t size,
                                                         const espalier_options* options,
                                                         espalier_plan** plan) ESPALIER_C_NOEXCEPT;

/**
 * Does what espalier_count_bytes() does, in a plan.
 * @param plan of espalier_plan_count_bytes()
 * @param size as the plan's
 * @param bytes the bytes
 * @param counts receives 256 numbers
 * @param stream a cudaStream_t, null for the CPU and for the default stream
 * @param workspace memory of the device, aligned to 512 bytes (64 on the CPU); null if none is needed
 * @param workspace_bytes its size, at least espalier_plan_workspace_bytes()
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_count_bytes_run(const espalier_plan* plan, int64_t size, const uint8_t* bytes,
                                                        uint64_t* counts, void* stream, void* workspace,
                                                        size_t workspace_bytes) ESPALIER_C_NOEXCEPT;

/**
 * What espalier_count_bytes() would run, and why.
 * @param device where it runs
 * @param size how many bytes
 * @param options variant, deterministic and threads; null for the defaults
 * @param text receives several lines, to be freed by espalier_free_text()
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_explain_count_bytes(const espalier_device* device, int64_t size,
                                                            const espalier_options* options,
                                                            char** text) ESPALIER_C_NOEXCEPT;

/**
 * Filters an 8-bit image.
 * @param device where it runs
 * @param shape of the image and its result
 * @param filter side * side coefficients, row by row, not flipped
 * @param side 3, 5 or 7; 7 on the CPU alone
 * @param border an ESPALIER_BORDER_
 * @param image height rows
 * @param result as many, which overlap none of the image's
 * @param options null for the defaults
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_convolve_2d(const espalier_device* device, const espalier_image_shape* shape,
                                                    const float* filter, int32_t side, int32_t border,
                                                    const uint8_t* image, uint8_t* result,
                                                    const espalier_options* options) ESPALIER_C_NOEXCEPT;

/**
 * A plan for espalier_convolve_2d().
 * @param device where it runs
 * @param shape of the image and its result
 * @param filter side * side coefficients, row by row, not flipped
 * @param side 3, 5 or 7; 7 on the CPU alone
 * @param border an ESPALIER_BORDER_
 * @param options all but stream, asynchronous and progress; null for the defaults
 * @param plan receives the plan
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_plan_convolve_2d(const espalier_device* device,
                                                         const espalier_image_shape* shape, const float* filter,
                                                         int32_t side, int32_t border, const espalier_options* options,
                                                         espalier_plan** plan) ESPALIER_C_NOEXCEPT;

/**
 * Does what espalier_convolve_2d() does, in a plan.
 * @param plan of espalier_plan_convolve_2d()
 * @param shape as the plan's
 * @param image height rows
 * @param result as many, which overlap none of the image's
 * @param stream a cudaStream_t, null for the CPU and for the default stream
 * @param workspace memory of the device, aligned to 512 bytes (64 on the CPU); null if none is needed
 * @param workspace_bytes its size, at least espalier_plan_workspace_bytes()
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_convolve_2d_run(const espalier_plan* plan, const espalier_image_shape* shape,
                                                        const uint8_t* image, uint8_t* result, void* stream,
                                                        void* workspace, size_t workspace_bytes) ESPALIER_C_NOEXCEPT;

/**
 * What espalier_convolve_2d() would run, and why.
 * @param device where it runs
 * @param shape of the image and its result
 * @param filter side * side coefficients, row by row, not flipped
 * @param side 3, 5 or 7; 7 on the CPU alone
 * @param border an ESPALIER_BORDER_
 * @param options variant, deterministic and threads; null for the defaults
 * @param text receives several lines, to be freed by espalier_free_text()
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_explain_convolve_2d(const espalier_device* device,
                                                            const espalier_image_shape* shape, const float* filter,
                                                            int32_t side, int32_t border,
                                                            const espalier_options* options,
                                                            char** text) ESPALIER_C_NOEXCEPT;

/**
 * All sums of seismic traces along travel times.
 * @param device where it runs
 * @param shape of the window
 * @param traces receivers * (samples + span) finite numbers
 * @param delays sources * receivers sample counts, each from 0 to span
 * @param sums receives sources * samples numbers
 * @param options null for the defaults
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_sum_coherently(const espalier_device* device,
                                                       const espalier_coherent_sum_shape* shape, const float* traces,
                                                       const int32_t* delays, float* sums,
                                                       const espalier_options* options) ESPALIER_C_NOEXCEPT;

/**
 * The largest sum of each source and when it occurs.
 * @param device where it runs
 * @param shape of the window
 * @param traces receivers * (samples + span) finite numbers
 * @param delays sources * receivers sample counts, each from 0 to span
 * @param maximum receives one number for each source
 * @param sample receives when it occurs
 * @param options null for the defaults
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_maximum_coherence(const espalier_device* device,
                                                          const espalier_coherent_sum_shape* shape, const float* traces,
                                                          const int32_t* delays, float* maximum, int32_t* sample,
                                                          const espalier_options* options) ESPALIER_C_NOEXCEPT;

/**
 * A plan for espalier_sum_coherently() or espalier_maximum_coherence().
 * @param device where it runs
 * @param shape of the window
 * @param output an ESPALIER_COHERENCE_
 * @param options all but stream, asynchronous and progress; null for the defaults
 * @param plan receives the plan
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_plan_coherent_sum(const espalier_device* device,
                                                          const espalier_coherent_sum_shape* shape, int32_t output,
                                                          const espalier_options* options,
                                                          espalier_plan** plan) ESPALIER_C_NOEXCEPT;

/**
 * Does what espalier_sum_coherently() does, in a plan.
 * @param plan of espalier_plan_coherent_sum() for ESPALIER_COHERENCE_SUMS
 * @param shape as the plan's
 * @param traces receivers * (samples + span) finite numbers
 * @param delays sources * receivers sample counts, each from 0 to span
 * @param sums receives sources * samples numbers
 * @param stream a cudaStream_t, null for the CPU and for the default stream
 * @param workspace memory of the device, aligned to 512 bytes (64 on the CPU); null if none is needed
 * @param workspace_bytes its size, at least espalier_plan_workspace_bytes()
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_sum_coherently_run(const espalier_plan* plan,
                                                           const espalier_coherent_sum_shape* shape,
                                                           const float* traces, const int32_t* delays, float* sums,
                                                           void* stream, void* workspace,
                                                           size_t workspace_bytes) ESPALIER_C_NOEXCEPT;

/**
 * Does what espalier_maximum_coherence() does, in a plan.
 * @param plan of espalier_plan_coherent_sum() for ESPALIER_COHERENCE_MAXIMUM
 * @param shape as the plan's
 * @param traces receivers * (samples + span) finite numbers
 * @param delays sources * receivers sample counts, each from 0 to span
 * @param maximum receives one number for each source
 * @param sample receives when it occurs
 * @param stream a cudaStream_t, null for the CPU and for the default stream
 * @param workspace memory of the device, aligned to 512 bytes (64 on the CPU); null if none is needed
 * @param workspace_bytes its size, at least espalier_plan_workspace_bytes()
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_maximum_coherence_run(
    const espalier_plan* plan, const espalier_coherent_sum_shape* shape, const float* traces, const int32_t* delays,
    float* maximum, int32_t* sample, void* stream, void* workspace, size_t workspace_bytes) ESPALIER_C_NOEXCEPT;

/**
 * What either would run, and why.
 * @param device where it runs
 * @param shape of the window
 * @param output an ESPALIER_COHERENCE_
 * @param options variant, deterministic and threads; null for the defaults
 * @param text receives several lines, to be freed by espalier_free_text()
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_explain_coherent_sum(const espalier_device* device,
                                                             const espalier_coherent_sum_shape* shape, int32_t output,
                                                             const espalier_options* options,
                                                             char** text) ESPALIER_C_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
