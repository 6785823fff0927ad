#include "harness/bench/records/case_lines.hpp"

#include <algorithm>
#include <utility>

#include "harness/base/statistics.hpp"
#include "harness/base/text/printable.hpp"
#include "harness/bench/records/codec.hpp"
#include "kernels/json/bad_data.hpp"
#include "kernels/json/checked_json.hpp"

namespace espalier::bench {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* kCases = "cases";
constexpr const char* kSamples = "samples_ns";

/// Members put into an object for a while: copying what cases share for each of them takes as long as reading a line
/// for each.
class Added {
public:
    Added(json& object, json& own) : object_(object) {
        for (const auto& [name, value] : own.items()) {
            const auto there = object_.find(name);
            if (there == object_.end())
                names_.push_back(name);
            else if (there->is_object() && value.is_object())
                inner_.emplace_back(*there, own[name]);
            else
                throw BadData("case: \"" + printable(name, 60) + "\" is of several cases and of one of them, too");
        }
        for (const std::string& name : names_) object_[name] = std::move(own[name]);
    }

    void take_out() {
        for (Added& inner : inner_) inner.take_out();
        for (const std::string& name : names_) object_.erase(name);
    }

private:
    json& object_;
    std::vector<std::string> names_;
    std::vector<Added> inner_;
};

void take_cases(json& body, std::vector<CaseRecord>& cases) {
    Fields fields(body, "case");
    if (!fields.has(kCases)) {
        if (cases.size() == kMostCases) fields.refuse(kCases, "are too many");
        cases.push_back(decode_case(body));
        return;
    }
    if (fields.array(kCases, kMostCases).empty()) fields.refuse(kCases, "is empty");
    if (fields.has(kSamples) && !fields.array(kSamples, 0).empty()) fields.refuse(kSamples, "is of one case alone");
    json own = std::move(body[kCases]);
    body.erase(kCases);
    for (json& one : own) {
        if (!one.is_object()) fields.refuse(kCases, "is not a list of objects");
        Added added(body, one);
        take_cases(body, cases);
        added.take_out();
    }
}

/// What stays each case's own.
bool is_own(const std::string& name, const ordered_json& value) {
    return name == kCases || (name == kSamples && !value.empty());
}

/// What all bodies have, of objects their members.
ordered_json shared_by(std::span<const ordered_json> bodies) {
    auto shared = ordered_json::object();
    for (const auto& member : bodies.front().items()) {
        const auto everywhere = [&](const auto& holds) {
            return std::ranges::all_of(bodies, [&](const ordered_json& body) {
                const auto there = body.find(member.key());
                return there != body.end() && holds(*there);
            });
        };
        if (is_own(member.key(), member.value())) continue;
        if (everywhere([&](const ordered_json& value) { return value == member.value(); })) {
            shared[member.key()] = member.value();
        } else if (everywhere([](const ordered_json& value) { return value.is_object(); })) {
            std::vector<ordered_json> objects;
            for (const ordered_json& body : bodies) objects.push_back(body[member.key()]);
            if (auto inner = shared_by(objects); !inner.empty()) shared[member.key()] = std::move(inner);
        }
    }
    return shared;
}

ordered_json without(const ordered_json& body, const ordered_json& shared) {
    auto own = ordered_json::object();
    for (const auto& [name, value] : body.items()) {
        const auto there = shared.find(name);
        if (there == shared.end())
            own[name] = value;
        else if (*there != value)
            own[name] = without(value, *there);
    }
    return own;
}

/// Bodies as one that stands for all.
ordered_json as_one(std::span<const ordered_json> bodies) {
    if (bodies.size() == 1) return bodies.front();
    ordered_json one = shared_by(bodies);
    auto own = ordered_json::array();
    for (const ordered_json& body : bodies) own.push_back(without(body, one));
    one[kCases] = std::move(own);
    return one;
}

/// The first cases as far as they have the same value of a member.
std::span<const CaseRecord> alike(std::span<const CaseRecord> cases, std::string CaseRecord::*member) {
    std::size_t count = 1;
    while (count < std::min(cases.size(), kMostCases) && cases[count].*member == cases[0].*member) ++count;
    return cases.first(count);
}

CaseRecord shortened(CaseRecord record) {
    constexpr int kDigits = 4;
    for (double& sample : record.samples_ns) sample = to_significant_digits(sample, kDigits);
    record.time_lo_ns = std::min(to_significant_digits(record.time_lo_ns, kDigits), record.time_ns);
    record.time_hi_ns = std::max(to_significant_digits(record.time_hi_ns, kDigits), record.time_ns);
    return record;
}

}  // namespace

std::vector<CaseRecord> decode_cases(json body) {
    std::vector<CaseRecord> cases;
    take_cases(body, cases);
    return cases;
}

std::string packed_lines(std::span<const CaseRecord> cases) {
    std::string lines;
    while (!cases.empty()) {
        auto of_problem = alike(cases, &CaseRecord::problem);
        cases = cases.subspan(of_problem.size());
        std::vector<ordered_json> variants;
        while (!of_problem.empty()) {
            const auto of_variant = alike(of_problem, &CaseRecord::variant);
            of_problem = of_problem.subspan(of_variant.size());
            std::vector<ordered_json> bodies;
            for (const CaseRecord& record : of_variant) bodies.push_back(encode(shortened(record)));
            variants.push_back(as_one(bodies));
        }
        lines += unsealed("case", as_one(variants)) + '\n';
    }
    return lines;
}

}  // namespace espalier::bench
