#ifndef ESPALIER_C_TYPES_H
#define ESPALIER_C_TYPES_H

/**
 * @file
 * The types of the C interface: see espalier/espalier.h.
 */

#include <stdbool.h>
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

/**
 * How a plan finds what it runs: by wisdom and trees, by timing the choices of a leaf or all that there are, or by
 * wisdom and forests.
 */
enum {
    ESPALIER_EFFORT_TREE = 0,
    ESPALIER_EFFORT_MEASURE = 1,
    ESPALIER_EFFORT_EXHAUSTIVE = 2,
    ESPALIER_EFFORT_PREDICT = 3
};

/** How a matrix, or a set of items, lies in memory: rows or columns, items or attributes side by side. */
enum { ESPALIER_ROW_MAJOR = 0, ESPALIER_COLUMN_MAJOR = 1 };

/** What a filter reads outside the image. */
enum { ESPALIER_BORDER_ZERO = 0, ESPALIER_BORDER_REPLICATE = 1, ESPALIER_BORDER_MIRROR = 2 };

/** How exact coherent sums must be. */
enum { ESPALIER_PRECISION_SINGLE = 0, ESPALIER_PRECISION_HALF = 1 };

/** How delays differ from one source to the next; sums are right with either. */
enum { ESPALIER_DELAYS_GRID = 0, ESPALIER_DELAYS_SCATTERED = 1 };

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

/** Metrics of models in double precision beside those of ESPALIER_METRIC_. */
enum {
    ESPALIER_EXACT_METRIC_OF_RULE = 0,   /**< the one of espalier_neighbour_rule */
    ESPALIER_EXACT_METRIC_MINKOWSKI = 1, /**< (sum of |x - y|^p)^(1/p) */
    ESPALIER_EXACT_METRIC_HAVERSINE = 2, /**< the angle between two places, latitude first, in radians */
    ESPALIER_EXACT_METRIC_HAMMING = 3    /**< the share of the attributes that differ */
};

/** Where work runs: the CPU or a GPU. */
typedef struct espalier_device espalier_device;
/** A chosen variant, bound to sizes and a device: made by `espalier_plan_`, run by the function's `_run`. */
typedef struct espalier_plan espalier_plan;
/** A training set of nearest neighbours, in the memory of its device. */
typedef struct espalier_model espalier_model;
/** A training set in shards, which points in host memory are cut into. */
typedef struct espalier_sharded_model espalier_sharded_model;
/** A training set in double precision. */
typedef struct espalier_exact_model espalier_exact_model;
/** The points within a radius of some queries, a list for each. */
typedef struct espalier_radius_lists espalier_radius_lists;

/**
 * Hears how far a call is, from 0 to 1, on the thread that made the call.
 * @param user progress_user of the call's options
 * @param done 0 before anything runs, never less than before, 1 when the results are there
 * @return whether the call goes on; else it ends with ESPALIER_ERROR_CANCELLED
 */
typedef bool (*espalier_progress)(void* user, double done);

/** How a call is carried out. A null pointer to it means all defaults. */
typedef struct espalier_options {
    size_t size;          /**< sizeof(espalier_options) */
    void* stream;         /**< a cudaStream_t; null for the CPU */
    const char* variant;  /**< instead of the selector's choice: "variant:name=value;name=value"; null or "" for none */
    int32_t memory;       /**< an ESPALIER_MEMORY_ */
    int32_t asynchronous; /**< not 0: with device memory, return when the work is enqueued */
    int32_t deterministic;      /**< not 0: equal calls give equal bits */
    int32_t threads;            /**< of the host; 0 for as many as OpenMP and the process have */
    espalier_progress progress; /**< null for nobody; plans have none */
    void* progress_user;        /**< handed to progress */
    int64_t budget;             /**< of plans that measure: nanoseconds of all runs; 0 for what the effort has */
    int32_t effort;             /**< of plans: an ESPALIER_EFFORT_ */
    int32_t reserved;           /**< 0 */
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
    int32_t delays;       /**< an ESPALIER_DELAYS_ */
} espalier_coherent_sum_shape;

/** A grid of trial sources: node (i, j, l) is number (l * rows + j) * columns + i, at origin + (i, j, l) * spacing. */
typedef struct espalier_source_grid {
    size_t size;       /**< sizeof(espalier_source_grid) */
    double origin[3];  /**< x, y and z of node 0, in metres */
    double spacing[3]; /**< from one node to the next of each axis, in metres */
    int64_t columns;   /**< nodes along x, which varies fastest; 0 is an empty grid, as for the other two */
    int64_t rows;      /**< nodes along y */
    int64_t layers;    /**< nodes along z */
} espalier_source_grid;

/** How travel times become delays in samples. */
typedef struct espalier_delay_rule {
    size_t size;              /**< sizeof(espalier_delay_rule) */
    double samples_per_metre; /**< sampling rate / velocity of the medium; positive */
    int64_t phases;           /**< fractions of a sample; 0: 1, whole samples */
    int64_t phase_samples;    /**< from one copy of a trace to the next; 0 with one phase */
} espalier_delay_rule;

/** Sizes of an interpolation: each trace becomes `phases` copies of samples + padding numbers. */
typedef struct espalier_interpolation_shape {
    size_t size;       /**< sizeof(espalier_interpolation_shape) */
    int64_t receivers; /**< traces */
    int64_t samples;   /**< of each */
    int64_t padding;   /**< zeros behind each copy */
    int64_t phases;    /**< copies of each trace, 1 or more */
} espalier_interpolation_shape;

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
    int64_t k;            /**< how many neighbours, 1 to 1024; of models in double precision 1 or more */
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

/** A set of items of `dims` numbers each in double precision, in host memory. */
typedef struct espalier_exact_items {
    size_t size;          /**< sizeof(espalier_exact_items) */
    const double* values; /**< count * dims of them */
    int64_t count;        /**< items */
    int64_t dims;         /**< numbers of an item */
    int64_t stride;       /**< as in espalier_items */
    int32_t layout;       /**< as in espalier_items */
    int32_t reserved;     /**< 0 */
} espalier_exact_items;

/** What a model in double precision is told of the distance beyond the rule. A null pointer to it means nothing. */
typedef struct espalier_exact_distance {
    size_t size;           /**< sizeof(espalier_exact_distance) */
    const double* weights; /**< one for each attribute, finite and not negative; null: 1 each */
    int64_t weight_count;  /**< how many weights there are */
    double p;              /**< of ESPALIER_EXACT_METRIC_MINKOWSKI, 1 or more; 0: 2 */
    int32_t metric;        /**< an ESPALIER_EXACT_METRIC_ */
    int32_t degrees;       /**< not 0: of ESPALIER_EXACT_METRIC_HAVERSINE the items are in degrees, not in radians */
} espalier_exact_distance;

/** Arrays for the neighbours of queries as in espalier_neighbours, with distances in double precision. */
typedef struct espalier_exact_neighbours {
    size_t size;       /**< sizeof(espalier_exact_neighbours) */
    double* distances; /**< queries * k; null if nobody wants to know */
    int32_t* indices;  /**< the same, of the points; -1 beyond the last one */
    int64_t stride;    /**< as in espalier_neighbours */
    int32_t layout;    /**< ESPALIER_ROW_MAJOR or ESPALIER_COLUMN_MAJOR */
    int32_t reserved;  /**< 0 */
} espalier_exact_neighbours;

#endif
