#ifndef ESPALIER_C_TYPES_H
#define ESPALIER_C_TYPES_H

/**
 * @file
 * The types of the C interface: see espalier/espalier.h.
 */

#include <stddef.h>
#include <stdint.h>

/** @cond */
#if defined(ESPALIER_STATIC) || !defined(__GNUC__)
#define ESPALIER_C_API
#else
#define ESPALIER_C_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
#define ESPALIER_C_NOEXCEPT noexcept
#else
#define ESPALIER_C_NOEXCEPT
#endif
/** @endcond */

/** What a function returns: ESPALIER_OK or an `ESPALIER_ERROR_`. */
typedef int32_t espalier_status;

/** The values of `espalier_status`, those of espalier::ErrorCode. */
enum {
    ESPALIER_OK = 0,                     /**< it is done */
    ESPALIER_ERROR_INVALID_ARGUMENT = 1, /**< the arguments contradict each other or a documented limit */
    ESPALIER_ERROR_UNSUPPORTED = 2,      /**< nothing can run this problem on this device */
    ESPALIER_ERROR_UNKNOWN_VARIANT = 3,  /**< a variant was asked for that is not in this library */
    ESPALIER_ERROR_NO_DEVICE = 4,        /**< the device is not there, or not usable */
    ESPALIER_ERROR_OUT_OF_MEMORY = 5,    /**< device or host memory did not suffice */
    ESPALIER_ERROR_DEVICE_FAILURE = 6,   /**< the device or its driver reported an error */
    ESPALIER_ERROR_BAD_FILE = 7,         /**< a file cannot be read, is damaged, or says what cannot be */
    ESPALIER_ERROR_INTERNAL = 8,         /**< a fault of the library itself; please report its message */
    ESPALIER_ERROR_CANCELLED = 9         /**< the caller ended the call */
};

/** Where the arrays of a call are. */
enum { ESPALIER_MEMORY_HOST = 0, ESPALIER_MEMORY_DEVICE = 1 };

/** How a matrix, or a set of items, lies in memory: rows or columns, items or attributes side by side. */
enum { ESPALIER_ROW_MAJOR = 0, ESPALIER_COLUMN_MAJOR = 1 };

/** What a filter reads outside the image. */
enum { ESPALIER_BORDER_ZERO = 0, ESPALIER_BORDER_REPLICATE = 1, ESPALIER_BORDER_MIRROR = 2 };

/** How exact coherent sums must be. */
enum { ESPALIER_PRECISION_SINGLE = 0, ESPALIER_PRECISION_HALF = 1 };

/** What a plan for coherent sums keeps of a window. */
enum { ESPALIER_COHERENCE_SUMS = 0, ESPALIER_COHERENCE_MAXIMUM = 1 };

/** What the distance of two items is. */
enum {
    ESPALIER_METRIC_EUCLIDEAN = 0,
    ESPALIER_METRIC_MIXED_EUCLIDEAN = 1,
    ESPALIER_METRIC_MANHATTAN = 2,
    ESPALIER_METRIC_CHEBYSHEV = 3,
    ESPALIER_METRIC_COSINE = 4
};

/** What a NaN among the attributes means. */
enum { ESPALIER_MISSING_NONE = 0, ESPALIER_MISSING_ALLOWED = 1 };

/** How ESPALIER_METRIC_MIXED_EUCLIDEAN compares an attribute. */
enum { ESPALIER_ATTRIBUTE_NUMERIC = 0, ESPALIER_ATTRIBUTE_NOMINAL = 1 };

/** In which order the k smallest are listed. */
enum { ESPALIER_ORDER_ASCENDING = 0, ESPALIER_ORDER_ANY = 1 };

/** Of what type the numbers are that a selection compares. */
enum { ESPALIER_KEYS_FLOAT32 = 0, ESPALIER_KEYS_FLOAT16 = 1, ESPALIER_KEYS_BFLOAT16 = 2, ESPALIER_KEYS_INT32 = 3 };

/** How neighbours' labels are combined. */
enum { ESPALIER_VOTE_MAJORITY = 0, ESPALIER_VOTE_DISTANCE_WEIGHTED = 1 };

/** Where work runs: the CPU or a GPU. */
typedef struct espalier_device espalier_device;
/** A chosen variant, bound to sizes and a device: made by `espalier_plan_`, run by the function's `_run`. */
typedef struct espalier_plan espalier_plan;
/** A training set of nearest neighbours, in the memory of its device. */
typedef struct espalier_model espalier_model;

/** How a call is carried out. A null pointer to it means all defaults. */
typedef struct espalier_options {
    size_t size;          /**< sizeof(espalier_options) */
    void* stream;         /**< a cudaStream_t; null for the CPU */
    const char* variant;  /**< instead of the selector's choice: "variant:name=value;name=value"; null or "" for none */
    int32_t memory;       /**< an ESPALIER_MEMORY_ */
    int32_t asynchronous; /**< not 0: with device memory, return when the work is enqueued */
    int32_t deterministic; /**< not 0: equal calls give equal bits */
    int32_t threads;       /**< of the host; 0 for as many as OpenMP and the process have */
} espalier_options;

/** Size of an 8-bit image and of its result. */
typedef struct espalier_image_shape {
    size_t size;          /**< sizeof(espalier_image_shape) */
    int64_t width;        /**< in pixels */
    int64_t height;       /**< in pixels */
    int64_t image_pitch;  /**< bytes from one row of the image to the next; 0: width * channels */
    int64_t result_pitch; /**< the same of the result */
    int32_t channels;     /**< interleaved: 1, 3 or 4 */
    int32_t reserved;     /**< 0 */
} espalier_image_shape;

/** Sizes of a coherent summation. */
typedef struct espalier_coherent_sum_shape {
    size_t size;          /**< sizeof(espalier_coherent_sum_shape) */
    int64_t receivers;    /**< traces */
    int64_t samples;      /**< times that are summed: the window */
    int64_t sources;      /**< trial sources */
    int64_t span;         /**< the longest delay, in samples */
    int64_t trace_stride; /**< from one trace to the next; 0: samples + span */
    int64_t delay_stride; /**< from one source's delays to the next's; 0: receivers */
    int64_t sum_stride;   /**< from one source's sums to the next's; 0: samples */
    int32_t precision;    /**< an ESPALIER_PRECISION_ */
    int32_t reserved;     /**< 0 */
} espalier_coherent_sum_shape;

/** A set of items of `dims` numbers each. */
typedef struct espalier_items {
    size_t size;         /**< sizeof(espalier_items) */
    const float* values; /**< count * dims of them */
    int64_t count;       /**< items */
    int64_t dims;        /**< numbers of an item */
    int64_t stride;      /**< from one item (of ESPALIER_COLUMN_MAJOR: attribute) to the next; 0: side by side */
    int32_t layout;      /**< ESPALIER_ROW_MAJOR: one item's numbers side by side; or ESPALIER_COLUMN_MAJOR */
    int32_t reserved;    /**< 0 */
} espalier_items;

/** How two items are compared. A null pointer to it means Euclidean distances without missing cells. */
typedef struct espalier_distance_rule {
    size_t size;          /**< sizeof(espalier_distance_rule) */
    const uint8_t* types; /**< ESPALIER_ATTRIBUTE_ of each attribute, for ESPALIER_METRIC_MIXED_EUCLIDEAN alone */
    int64_t type_count;   /**< how many types there are */
    int32_t metric;       /**< an ESPALIER_METRIC_ */
    int32_t missing;      /**< an ESPALIER_MISSING_ */
} espalier_distance_rule;

/** What is selected from what. */
typedef struct espalier_selection_shape {
    size_t size;         /**< sizeof(espalier_selection_shape) */
    int64_t rows;        /**< lists to select from */
    int64_t columns;     /**< candidates of each */
    int64_t k;           /**< how many are kept of each, 1 to 1024 */
    int64_t key_stride;  /**< from one row (of ESPALIER_COLUMN_MAJOR: column) of the candidates to the next; 0: dense */
    int64_t list_stride; /**< the same of the values and indices */
    int32_t layout;      /**< of all three matrices: ESPALIER_ROW_MAJOR or ESPALIER_COLUMN_MAJOR */
    int32_t order;       /**< an ESPALIER_ORDER_ */
    int32_t keys;        /**< an ESPALIER_KEYS_ */
    int32_t reserved;    /**< 0 */
} espalier_selection_shape;

/** Which neighbours are asked, and how they vote. */
typedef struct espalier_neighbour_rule {
    size_t size;          /**< sizeof(espalier_neighbour_rule) */
    const uint8_t* types; /**< as in espalier_distance_rule */
    int64_t type_count;   /**< as in espalier_distance_rule */
    int64_t k;            /**< how many neighbours, 1 to 1024 */
    int32_t metric;       /**< an ESPALIER_METRIC_ */
    int32_t missing;      /**< an ESPALIER_MISSING_ */
    int32_t vote;         /**< an ESPALIER_VOTE_ */
    int32_t reserved;     /**< 0 */
} espalier_neighbour_rule;

/** Arrays for the neighbours of queries, a row of k for each query. */
typedef struct espalier_neighbours {
    size_t size;      /**< sizeof(espalier_neighbours) */
    float* distances; /**< queries * k; null if nobody wants to know */
    int32_t* indices; /**< the same, of the points; -1 beyond the last one */
    int64_t stride;   /**< from one query's list (of ESPALIER_COLUMN_MAJOR: rank) to the next; 0: k (queries) */
    int32_t layout;   /**< ESPALIER_ROW_MAJOR or ESPALIER_COLUMN_MAJOR */
    int32_t reserved; /**< 0 */
} espalier_neighbours;

#endif
