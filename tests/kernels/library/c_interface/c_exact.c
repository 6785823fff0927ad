/* Nearest neighbours in double precision from C99: a part of c_test.c. */

#include "c_test.h"

#define EXACT_FILE "c_interface_test.exact"

/* Seconds of an epoch, which floats would make equal. */
#define T 1.7e9
static const double seconds[4] = {T, T + 1, T + 5, T + 6};
static const double asked[3] = {T + 0.25, T + 5.5, T + 100};
static const int32_t classes[4] = {0, 0, 2, 2};
static const double targets[4] = {0, 2, 10, 20};

static espalier_exact_model* classifier(const espalier_device* cpu, const espalier_exact_items* points, int64_t k) {
    espalier_neighbour_rule rule = {sizeof rule};
    espalier_exact_model* model = NULL;
    rule.k = k;
    OK(espalier_exact_fit_classifier(cpu, points, classes, &rule, NULL, NULL, &model));
    return model;
}

static espalier_exact_model* regressor(const espalier_device* cpu, const espalier_exact_items* points) {
    espalier_neighbour_rule rule = {sizeof rule};
    espalier_exact_model* model = NULL;
    rule.k = 2;
    OK(espalier_exact_fit_regressor(cpu, points, targets, &rule, NULL, NULL, &model));
    return model;
}

static void expect_nearest(const espalier_exact_model* model, const espalier_exact_items* queries) {
    double distances[6];
    int32_t indices[6], i;
    espalier_exact_neighbours lists = {sizeof lists};
    lists.distances = distances;
    lists.indices = indices;
    OK(espalier_exact_kneighbors(model, queries, &lists, NULL));
    EXPECT(indices[0] == 0 && indices[1] == 1 && indices[2] == 2 && indices[3] == 3 && indices[4] == 3);
    EXPECT(distances[0] == 0.25 && distances[1] == 0.75 && distances[3] == 0.5 && distances[5] == 95);
    lists.layout = ESPALIER_COLUMN_MAJOR;
    lists.stride = 3;
    OK(espalier_exact_kneighbors(model, queries, &lists, NULL));
    for (i = 0; i < 2; ++i) EXPECT(indices[i * 3] == i && indices[i * 3 + 1] == 2 + i);
    lists.layout = 2;
    INVALID("neighbours.layout is 2", espalier_exact_kneighbors(model, queries, &lists, NULL));
    lists.layout = ESPALIER_ROW_MAJOR;
    lists.stride = 1;
    INVALID("stride of the neighbours is 1", espalier_exact_kneighbors(model, queries, &lists, NULL));
    lists.stride = 0;
    lists.distances = NULL;
    OK(espalier_exact_kneighbors(model, queries, &lists, NULL));
    lists.indices = NULL;
    INVALID("neither distances nor indices", espalier_exact_kneighbors(model, queries, &lists, NULL));
    INVALID("neighbours is null", espalier_exact_kneighbors(model, queries, NULL, NULL));
}

static void test_classes(const espalier_exact_model* model, const espalier_exact_items* queries) {
    int32_t predicted[3], indices[6];
    double shares[9], numbers[3];
    espalier_exact_neighbours lists = {sizeof lists};
    lists.indices = indices;
    OK(espalier_exact_predict_classes(model, queries, predicted, &lists, NULL));
    EXPECT(predicted[0] == 0 && predicted[1] == 2 && predicted[2] == 2 && indices[1] == 1);
    OK(espalier_exact_predict_classes_within(model, queries, 0.75, predicted, NULL));
    EXPECT(predicted[0] == 0 && predicted[1] == 2 && predicted[2] == -1);
    EXPECT(espalier_exact_class_count(model) == 3 && espalier_exact_class_count(NULL) == 0);
    OK(espalier_exact_predict_shares(model, queries, 3, shares, NULL));
    EXPECT(shares[0] == 1 && shares[1] == 0 && shares[2] == 0 && shares[5] == 1);
    INVALID("class_count is 2", espalier_exact_predict_shares(model, queries, 2, shares, NULL));
    INVALID("shares is null", espalier_exact_predict_shares(model, queries, 3, NULL, NULL));
    INVALID("classes is null", espalier_exact_predict_classes(model, queries, NULL, NULL, NULL));
    INVALID("classes is null", espalier_exact_predict_classes_within(model, queries, 1, NULL, NULL));
    INVALID("radius is -1", espalier_exact_predict_classes_within(model, queries, -1, predicted, NULL));
    INVALID("another kind", espalier_exact_predict_targets(model, queries, numbers, NULL, NULL));
    INVALID("another kind", espalier_exact_predict_targets_within(model, queries, 1, numbers, NULL));
}

static void test_targets(const espalier_exact_model* model, const espalier_exact_items* queries) {
    double numbers[3];
    int32_t predicted[3];
    OK(espalier_exact_predict_targets(model, queries, numbers, NULL, NULL));
    EXPECT(numbers[0] == 1 && numbers[1] == 15 && numbers[2] == 15);
    OK(espalier_exact_predict_targets_within(model, queries, 0.5, numbers, NULL));
    EXPECT(numbers[0] == 0 && numbers[1] == 15 && isnan(numbers[2]));
    EXPECT(espalier_exact_class_count(model) == 0);
    INVALID("another kind", espalier_exact_predict_classes(model, queries, predicted, NULL, NULL));
    INVALID("another kind", espalier_exact_predict_shares(model, queries, 0, numbers, NULL));
    INVALID("targets is null", espalier_exact_predict_targets(model, queries, NULL, NULL, NULL));
}

static void test_radius(const espalier_exact_model* model, const espalier_exact_items* queries) {
    const int64_t offsets[4] = {0, 2, 4, 4};
    const double distances[4] = {0.25, 0.75, 0.5, 0.5};
    espalier_radius_lists* lists = NULL;
    OK(espalier_exact_radius_neighbours(model, queries, 0.75, NULL, &lists));
    EXPECT(memcmp(espalier_radius_lists_offsets(lists), offsets, sizeof offsets) == 0);
    EXPECT(memcmp(espalier_radius_lists_exact_distances(lists), distances, sizeof distances) == 0);
    EXPECT(espalier_radius_lists_indices(lists)[3] == 3 && espalier_radius_lists_distances(lists) == NULL);
    espalier_radius_lists_free(lists);
    INVALID("radius is -1", espalier_exact_radius_neighbours(model, queries, -1, NULL, &lists));
    EXPECT(lists == NULL);
    INVALID("lists is null", espalier_exact_radius_neighbours(model, queries, 1, NULL, NULL));
}

/* Each metric that only these models have, on its own two points. */
static void test_metrics(const espalier_device* cpu) {
    const double places[4] = {0, 0, 0, 90}, pole[2] = {90, 0}, weights[2] = {1, 3}, half_pi = 1.5707963267948966;
    double distance[2];
    espalier_exact_items points = {sizeof points, places, 2, 2}, queries = {sizeof queries, pole, 1, 2};
    espalier_neighbour_rule rule = {sizeof rule};
    espalier_exact_distance how = {sizeof how};
    espalier_exact_neighbours lists = {sizeof lists};
    int metric;
    const double right[4] = {90, 90, 0, 0.25};
    lists.distances = distance;
    rule.k = 1;
    for (metric = ESPALIER_EXACT_METRIC_OF_RULE; metric <= ESPALIER_EXACT_METRIC_HAMMING; ++metric) {
        espalier_exact_model* model = NULL;
        how.metric = metric;
        how.degrees = metric == ESPALIER_EXACT_METRIC_HAVERSINE;
        how.p = metric == ESPALIER_EXACT_METRIC_MINKOWSKI ? 3 : 0;
        how.weights = metric == ESPALIER_EXACT_METRIC_HAMMING ? weights : NULL;
        how.weight_count = metric == ESPALIER_EXACT_METRIC_HAMMING ? 2 : 0;
        OK(espalier_exact_fit_neighbours(cpu, &points, &rule, &how, NULL, &model));
        OK(espalier_exact_kneighbors(model, &queries, &lists, NULL));
        EXPECT(fabs(distance[0] - (how.degrees ? half_pi : right[metric])) < 1e-9);
        espalier_exact_model_free(model);
    }
    {
        espalier_exact_model* none = NULL;
        how.weight_count = 0;
        INVALID("weight_count is 0", espalier_exact_fit_neighbours(cpu, &points, &rule, &how, NULL, &none));
        how.weight_count = 1;
        INVALID("2 attributes, but 1 weights", espalier_exact_fit_neighbours(cpu, &points, &rule, &how, NULL, &none));
        how.weight_count = 2;
        how.weights = NULL;
        INVALID("distance.weights is null", espalier_exact_fit_neighbours(cpu, &points, &rule, &how, NULL, &none));
        how.weight_count = -1;
        INVALID("distance.weight_count", espalier_exact_fit_neighbours(cpu, &points, &rule, &how, NULL, &none));
        how.weight_count = 0;
        how.metric = 4;
        INVALID("distance.metric is 4", espalier_exact_fit_neighbours(cpu, &points, &rule, &how, NULL, &none));
        how.metric = ESPALIER_EXACT_METRIC_MINKOWSKI;
        how.p = 0.5;
        INVALID("p is 0.5", espalier_exact_fit_neighbours(cpu, &points, &rule, &how, NULL, &none));
        how.size = 8;
        INVALID("distance.size is 8", espalier_exact_fit_neighbours(cpu, &points, &rule, &how, NULL, &none));
        EXPECT(none == NULL);
    }
}

static void test_files(const espalier_device* cpu, const espalier_exact_items* points,
                       const espalier_exact_items* queries) {
    espalier_exact_model *model = classifier(cpu, points, 2), *again = NULL;
    unsigned char* bytes;
    size_t count, i;
    OK(espalier_exact_model_save(model, EXACT_FILE));
    espalier_exact_model_free(model);
    OK(espalier_exact_load_classifier(cpu, EXACT_FILE, NULL, &again));
    expect_nearest(again, queries);
    test_classes(again, queries);
    espalier_exact_model_free(again);
    BAD_FILE("holds an ExactKnnClassifier", espalier_exact_load_regressor(cpu, EXACT_FILE, NULL, &again));
    EXPECT(again == NULL);
    bytes = bytes_of(EXACT_FILE, &count);
    for (i = 0; i < count; ++i) {
        bytes[i] ^= 1;
        put_bytes(EXACT_FILE, bytes, count);
        BAD_FILE(EXACT_FILE, espalier_exact_load_classifier(cpu, EXACT_FILE, NULL, &again));
        bytes[i] ^= 1;
        put_bytes(EXACT_FILE, bytes, i);
        BAD_FILE(EXACT_FILE, espalier_exact_load_classifier(cpu, EXACT_FILE, NULL, &again));
    }
    free(bytes);
    model = regressor(cpu, points);
    OK(espalier_exact_model_save(model, EXACT_FILE));
    espalier_exact_model_free(model);
    OK(espalier_exact_load_regressor(cpu, EXACT_FILE, NULL, &again));
    test_targets(again, queries);
    espalier_exact_model_free(again);
    {
        espalier_neighbour_rule rule = {sizeof rule};
        rule.k = 2;
        OK(espalier_exact_fit_neighbours(cpu, points, &rule, NULL, NULL, &model));
        OK(espalier_exact_model_save(model, EXACT_FILE));
        espalier_exact_model_free(model);
        OK(espalier_exact_load_neighbours(cpu, EXACT_FILE, NULL, &again));
        expect_nearest(again, queries);
        espalier_exact_model_free(again);
    }
    remove(EXACT_FILE);
    BAD_FILE("no such file", espalier_exact_load_neighbours(cpu, EXACT_FILE, NULL, &again));
    INVALID("path is null", espalier_exact_load_neighbours(cpu, NULL, NULL, &again));
    INVALID("model is null", espalier_exact_model_save(NULL, EXACT_FILE));
}

void test_exact(const espalier_device* cpu) {
    espalier_exact_items points = {sizeof points, seconds, 4, 1}, queries = {sizeof queries, asked, 3, 1};
    espalier_neighbour_rule rule = {sizeof rule};
    espalier_exact_model *by_class = classifier(cpu, &points, 2), *by_target = regressor(cpu, &points), *none = NULL;
    char* text = NULL;
    int32_t predicted[3];
    expect_nearest(by_class, &queries);
    expect_nearest(by_target, &queries);
    test_classes(by_class, &queries);
    test_targets(by_target, &queries);
    test_radius(by_class, &queries);
    test_metrics(cpu);
    has_text(espalier_exact_explain_predict(by_class, 3, ESPALIER_MISSING_NONE, NULL, &text), &text, "knn");
    INVALID("missing is 2", espalier_exact_explain_predict(by_class, 3, 2, NULL, &text));
    EXPECT(espalier_exact_predict_bytes(by_class, 3) > 0 && espalier_exact_predict_bytes(NULL, 3) == 0);
    EXPECT(espalier_exact_predict_bytes(by_class, -3) == 0);
    test_files(cpu, &points, &queries);
    INVALID("k is 0", espalier_exact_fit_neighbours(cpu, &points, &rule, NULL, NULL, &none));
    rule.k = 5000; /* more than devices list */
    OK(espalier_exact_fit_classifier(cpu, &points, classes, &rule, NULL, NULL, &none));
    OK(espalier_exact_predict_classes(none, &queries, predicted, NULL, NULL));
    EXPECT(predicted[0] == 0);
    espalier_exact_model_free(none);
    none = NULL;
    INVALID("classes is null", espalier_exact_fit_classifier(cpu, &points, NULL, &rule, NULL, NULL, &none));
    INVALID("targets is null", espalier_exact_fit_regressor(cpu, &points, NULL, &rule, NULL, NULL, &none));
    INVALID("rule is null", espalier_exact_fit_neighbours(cpu, &points, NULL, NULL, NULL, &none));
    INVALID("points is null", espalier_exact_fit_neighbours(cpu, NULL, &rule, NULL, NULL, &none));
    INVALID("model is null", espalier_exact_fit_neighbours(cpu, &points, &rule, NULL, NULL, NULL));
    INVALID("model is null", espalier_exact_predict_classes(NULL, &queries, predicted, NULL, NULL));
    INVALID("queries is null", espalier_exact_predict_classes(by_class, NULL, predicted, NULL, NULL));
    queries.dims = 2;
    INVALID("attributes", espalier_exact_predict_classes(by_class, &queries, predicted, NULL, NULL));
    points.layout = 3;
    INVALID("points.layout is 3", espalier_exact_fit_neighbours(cpu, &points, &rule, NULL, NULL, &none));
    EXPECT(none == NULL);
    espalier_exact_model_free(by_class);
    espalier_exact_model_free(by_target);
    espalier_exact_model_free(NULL);
}
