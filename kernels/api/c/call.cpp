#include "kernels/api/c/call.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "kernels/api/c/last_error.hpp"

namespace espalier::c {
namespace {

/// Of the calling thread. Has no destructor and no memory of its own, so that there is always room for a message.
thread_local char last_message[2048] = "";

// C's values are those of C++, so that a status is cast.
static_assert(static_cast<int>(ErrorCode::invalid_argument) + 1 == ESPALIER_ERROR_INVALID_ARGUMENT);
static_assert(static_cast<int>(ErrorCode::internal) + 1 == ESPALIER_ERROR_INTERNAL);
static_assert(static_cast<int>(ErrorCode::cancelled) + 1 == ESPALIER_ERROR_CANCELLED);
static_assert(static_cast<int>(Memory::device) == ESPALIER_MEMORY_DEVICE);
static_assert(static_cast<int>(Metric::cosine) == ESPALIER_METRIC_COSINE);
static_assert(static_cast<int>(Missing::allowed) == ESPALIER_MISSING_ALLOWED);
static_assert(static_cast<int>(AttributeType::nominal) == ESPALIER_ATTRIBUTE_NOMINAL);
static_assert(static_cast<int>(ExactMetric::hamming) == ESPALIER_EXACT_METRIC_HAMMING);

/// The end of what is kept of a message: no character of several bytes is cut.
std::size_t kept(const std::string& message) {
    std::size_t end = std::min(message.size(), sizeof last_message - 1);
    if (end == message.size()) return end;
    while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xC0U) == 0x80U) --end;
    return end;
}

}  // namespace

const char* last_error() noexcept { return last_message; }

espalier_status failed(const Error& error) noexcept {
    const std::size_t length = kept(error.message);
    std::memcpy(last_message, error.message.data(), length);
    last_message[length] = '\0';
    return static_cast<espalier_status>(error.code) + 1;
}

void check_struct(const void* given, const char* name, std::size_t first_size, std::size_t known_size) {
    constexpr std::size_t kMost = 4096;  // beyond any version: memory that nobody initialised
    const std::size_t size = *static_cast<const std::size_t*>(&present(static_cast<const std::size_t*>(given), name));
    if (size < first_size || size > kMost)
        throw InvalidCall(std::string(name) + ".size is " + std::to_string(size) +
                          ": set it to the sizeof of the struct");
    const auto* bytes = static_cast<const unsigned char*>(given);
    if (std::any_of(bytes + std::min(size, known_size), bytes + size, [](unsigned char byte) { return byte != 0; }))
        throw InvalidCall(std::string(name) + " sets members that this library, version " + library_version() +
                          ", does not know: leave them 0, or link a newer one");
}

bool is_row_major(std::int32_t layout, const char* name) {
    if (layout == ESPALIER_ROW_MAJOR) return true;
    if (layout == ESPALIER_COLUMN_MAJOR) return false;
    throw InvalidCall(std::string(name) + " is " + std::to_string(layout) +
                      ": neither ESPALIER_ROW_MAJOR nor ESPALIER_COLUMN_MAJOR");
}

MatrixLayout matrix_layout(std::int32_t layout, const char* name) {
    return is_row_major(layout, name) ? MatrixLayout::row_major : MatrixLayout::transposed;
}

void check_stride(std::int64_t stride, std::int64_t dense, const char* name) {
    if (stride == 0 || stride == dense) return;
    const std::string is = std::string(name) + " is " + std::to_string(stride);
    if (stride < dense)
        throw InvalidCall(is + ", less than the " + std::to_string(dense) + " that lie between: set it to 0");
    throw Unsupported(is + ": this version takes rows without padding alone, 0 or " + std::to_string(dense) +
                      "; copy the rows side by side");
}

std::int64_t count_of(std::initializer_list<NamedSize> sizes) {
    if (const auto error = invalid_sizes(sizes)) throw InvalidCall(error->message);
    std::int64_t product = 1;
    for (const NamedSize& size : sizes) product *= size.value;
    return product;
}

Options options_of(const espalier_options* given) {
    if (!given) return {};
    const auto options = known(given, "options");
    return {.memory = enumerator(options.memory, Memory::device, "options.memory", "MEMORY"),
            .stream = stream_of(options.stream),
            .wait = options.asynchronous == 0,
            .deterministic = options.deterministic != 0,
            .variant = options.variant ? options.variant : "",
            .threads = options.threads,
            .progress = options.progress,
            .progress_user = options.progress_user};
}

PlanOptions plan_options_of(const espalier_options* given) {
    if (!given) return {};
    const auto options = known(given, "options");
    return {.effort = enumerator(options.effort, Effort::predict, "options.effort", "EFFORT"),
            .budget = std::chrono::nanoseconds(options.budget)};
}

Items items_of(const espalier_items* given, const char* name) {
    const auto items = known(given, name);
    const bool row_major = is_row_major(items.layout, (std::string(name) + ".layout").c_str());
    return {items.values, items.count, items.dims, row_major ? Layout::item_major : Layout::attribute_major,
            items.stride};
}

NeighbourLists neighbour_lists(const espalier_neighbours* given) {
    if (!given) return {};
    const auto lists = known(given, "neighbours");
    return {lists.distances, lists.indices, matrix_layout(lists.layout, "neighbours.layout"), lists.stride};
}

NeighbourRule neighbour_rule(const espalier_neighbour_rule* given) {
    const auto rule = known(given, "rule");
    return {.k = rule.k,
            .distance = distance_rule(rule.metric, rule.missing, rule.types, rule.type_count),
            .vote = enumerator(rule.vote, Vote::distance_weighted, "rule.vote", "VOTE")};
}

DistanceRule distance_rule(std::int32_t metric, std::int32_t missing, const std::uint8_t* types, std::int64_t count) {
    const auto known_types = span_of(types, {{"type_count", count}});
    if (!types && count > 0) throw InvalidCall("types is null, but type_count is " + std::to_string(count));
    static_assert(sizeof(AttributeType) == 1);
    return {enumerator(metric, Metric::cosine, "metric", "METRIC"),
            enumerator(missing, Missing::allowed, "missing", "MISSING"),
            {reinterpret_cast<const AttributeType*>(known_types.data()), known_types.size()}};
}

Result<void> give_text(const Result<Explanation>& why, char** to) {
    if (!why) return why.error();
    const std::string text = why.value().text();
    if (text == "out of memory") throw std::bad_alloc();
    auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
    if (!copy) throw std::bad_alloc();
    std::memcpy(copy, text.c_str(), text.size() + 1);
    *to = copy;
    return {};
}

}  // namespace espalier::c
