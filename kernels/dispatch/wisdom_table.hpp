#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/registry.hpp"
#include "kernels/core/selector.hpp"
#include "kernels/dispatch/wisdom.hpp"

namespace espalier {

/// The key of a choice, but for the device's key: the features that are in the problem's key, the threads of
/// the host, and whether the choice is among deterministic variants alone.
template <class P>
class WisdomKey {
public:
    WisdomKey(const P& problem, int threads, bool deterministic) {
        for (const Feature<P>& feature : P::features()) {
            if (feature.derived() || !feature.known || count_ == kMostFeatures) continue;
            add(values_[count_++] = feature.value(problem));
        }
        add(values_[count_] = threads + (deterministic ? 0.5 : 0.0));
    }

    [[nodiscard]] std::size_t hash() const { return static_cast<std::size_t>(hash_); }
    [[nodiscard]] std::span<const double> values() const { return {values_, count_ + 1}; }

private:
    void add(double value) {
        hash_ = (hash_ ^ std::bit_cast<std::uint64_t>(value)) * 0x9E3779B97F4A7C15U;
        hash_ ^= hash_ >> 32;
    }

    double values_[kMostFeatures + 1];
    std::size_t count_ = 0;
    std::uint64_t hash_ = 0;
};

/// The choice that was learned for a problem on a device, as dispatches take it.
template <class P>
struct LearnedChoice {
    const WisdomEntry* entry;
    const Registered<P>* variant;
    Configuration configuration;
    std::size_t hash;
    std::vector<double> values;  ///< of its key

    [[nodiscard]] bool is_of(const WisdomKey<P>& key, std::string_view device) const {
        return hash == key.hash() && std::ranges::equal(values, key.values()) && entry->device == device;
    }
};

/// A hash table of a family that any number of threads read while one writes. It is never freed, and nothing leaves it:
/// whoever found a choice may keep it.
template <class P>
class WisdomTable {
public:
    /// Room for a power of two of choices, half of which it takes.
    explicit WisdomTable(std::size_t capacity)
        : mask_(capacity - 1), places_(std::make_unique<std::atomic<const LearnedChoice<P>*>[]>(capacity)) {}

    /// Null if nothing was learned of the problem there.
    [[nodiscard]] const LearnedChoice<P>* find(const P& problem, const DeviceInfo& device, bool deterministic) const {
        const WisdomKey<P> key(problem, device.kind == DeviceKind::cpu ? device.threads : 0, deterministic);
        return place_of(key, device.key).load(std::memory_order_acquire);
    }

    [[nodiscard]] std::size_t capacity() const { return mask_ + 1; }
    [[nodiscard]] bool is_full() const { return 2 * used_ >= capacity(); }

    /// In place of what there is of its key. For one thread at a time, unless the table is full.
    void put(const LearnedChoice<P>* choice, const WisdomKey<P>& key) noexcept {
        auto& place = place_of(key, choice->entry->device);
        if (!place.load(std::memory_order_relaxed)) ++used_;
        place.store(choice, std::memory_order_release);
    }

    /// All choices of a table with less room.
    void take(const WisdomTable& other) noexcept {
        for (std::size_t i = 0; i < other.capacity(); ++i) {
            const LearnedChoice<P>* const choice = other.places_[i].load(std::memory_order_relaxed);
            if (!choice) continue;
            std::size_t at = choice->hash & mask_;
            while (places_[at].load(std::memory_order_relaxed)) at = (at + 1) & mask_;
            places_[at].store(choice, std::memory_order_relaxed);
            ++used_;
        }
    }

private:
    [[nodiscard]] std::atomic<const LearnedChoice<P>*>& place_of(const WisdomKey<P>& key,
                                                                 std::string_view device) const {
        std::size_t at = key.hash() & mask_;
        while (const LearnedChoice<P>* const choice = places_[at].load(std::memory_order_acquire)) {
            if (choice->is_of(key, device)) break;
            at = (at + 1) & mask_;
        }
        return places_[at];
    }

    std::size_t mask_, used_ = 0;
    std::unique_ptr<std::atomic<const LearnedChoice<P>*>[]> places_;
};

/// The table that dispatches take at this moment; null while nothing was learned.
template <class P>
inline std::atomic<WisdomTable<P>*> current_wisdom{nullptr};

template <class P>
void forget_table() noexcept {
    current_wisdom<P>.store(nullptr, std::memory_order_release);
}

/// The memory behind a family's tables, which keeps all that there ever was. For one thread at a time.
template <class P>
class WisdomStore {
public:
    /// Puts an entry to use, which must live as long as the program; says why it is of no use here, if it is not.
    /// Throws std::bad_alloc, and has changed nothing then.
    std::optional<std::string> learn(const WisdomEntry& entry, std::span<const Registered<P>> registry) {
        std::string wrong;
        const auto problem = parse_problem<P>(entry.problem, wrong);
        if (!problem) return "its problem cannot be: " + wrong;
        if (problem_key(*problem, true) != entry.problem) return "its problem is not spelled as this version does";
        const auto variant = std::ranges::find_if(
            registry, [&](const Registered<P>& other) { return other.variant.name == entry.variant; });
        if (variant == registry.end() || !variant->linked())
            return "its variant " + entry.variant + " is not in this library";
        if (auto why = stale_wisdom(entry, variant->kind, variant->source_id)) return why;
        for (const Configuration& configuration : variant->variant.space.enumerate())
            if (configuration.text() == entry.configuration) {
                put(entry, *problem, *variant, configuration);
                return std::nullopt;
            }
        return "its variant " + entry.variant + " has no such configuration";
    }

private:
    void put(const WisdomEntry& entry, const P& problem, const Registered<P>& variant,
             const Configuration& configuration) {
        constexpr std::size_t kLeast = 16;
        const WisdomKey<P> key(problem, entry.threads, entry.deterministic);
        const auto values = key.values();
        LearnedChoice<P> choice{&entry, &variant, configuration, key.hash(), {values.begin(), values.end()}};
        WisdomTable<P>* table = current_wisdom<P>.load(std::memory_order_relaxed);
        std::unique_ptr<WisdomTable<P>> larger;
        if (!table || table->is_full()) {
            larger = std::make_unique<WisdomTable<P>>(table ? 2 * table->capacity() : kLeast);
            if (table) larger->take(*table);
            table = larger.get();
            tables_.reserve(tables_.size() + 1);
        }
        const LearnedChoice<P>& kept = choices_.emplace_back(std::move(choice));
        if (larger) tables_.push_back(std::move(larger));  // which has room
        table->put(&kept, key);
        current_wisdom<P>.store(table, std::memory_order_release);
    }

    std::deque<LearnedChoice<P>> choices_;
    std::vector<std::unique_ptr<WisdomTable<P>>> tables_;
};

/// Never destroyed: other threads may decide while the program ends.
template <class P>
WisdomStore<P>& wisdom_store() {
    static WisdomStore<P>& store = *new WisdomStore<P>;
    return store;
}

}  // namespace espalier
