#include "tests/bench/synthetic/family.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "harness/bench/families/family_of.hpp"
#include "harness/bench/learn/ranking.hpp"
#include "kernels/problems/synthetic.hpp"

namespace espalier::bench::synthetic {

using namespace ::espalier::synthetic;
namespace {

Support any(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

Support small(const Problem& problem, const Configuration&, const DeviceInfo&) {
    return problem.rows <= 1000 ? Support::yes() : Support::no("more than 1000 rows");
}

void compute_nothing(Context&, const Problem&, const Buffers&, const Configuration&) {}

Registered<Problem> entry(std::string_view name, Role role, ParameterSpace space, decltype(&any) supports,
                          std::string_view source_id) {
    return {.variant =
                {.role = role, .space = std::move(space), .supports = supports, .run = compute_nothing, .name = name},
            .kind = DeviceKind::cpu,
            .source_id = source_id};
}

std::span<const Registered<Problem>> registry() {
    static const std::array all{
        entry("alpha", Role::documented, {{"block", {64, 128}}}, any,
              "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
        entry("base", Role::baseline, {}, any, "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"),
        entry("beta", Role::modern, {}, any, "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"),
        entry("gamma", Role::modern, {}, small, "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"),
        entry("peer_other", Role::peer, {}, any, "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"),
    };
    return all;
}

std::vector<Problem> all_problems(DeviceKind, Effort) {
    std::vector<Problem> all;
    for (const std::int64_t rows : {10, 100, 1000, 10'000, 100'000})
        for (const std::int64_t columns : {1, 4, 16, 64, 256})
            for (const Order order : {Order::any, Order::sorted, Order::reversed})
                all.push_back({rows, columns, order});
    return all;
}

}  // namespace

const Family& family() {
    static const FamilyOf<Problem> family(
        "synthetic", registry(),
        {.default_problems = all_problems,
         .edge_cases =
             [] {
                 return std::vector<TypedEdgeCase<Problem>>{{{0, 0, Order::any}}, {{1, 1, Order::sorted}}};
             },
         .data_bytes = [](const Problem& problem) { return static_cast<std::size_t>(problem.values()); }});
    return family;
}

DeviceInfo device() {
    DeviceInfo info;
    info.key = "cpu-test-2t";
    info.name = "Test processor";
    info.threads = 2;
    info.avx2 = info.fma = true;
    return info;
}

std::vector<std::string> problems() { return family().default_problems(DeviceKind::cpu, Effort::full); }

double regions(const std::string& variant, const std::string& configuration, const std::vector<double>& features) {
    const double rows = features[0], order = features[2], values = features[3], aspect = features[4];
    const double work = 100 + values;
    if (variant == "base") return work * (values <= 2000 ? 1.0 : 3.0);
    if (variant == "gamma") return work * (rows <= 1000 && order == 1 ? 0.5 : 4.0);
    if (variant == "beta") return work * (values > 2000 && aspect < 300 ? 1.0 : 2.0);
    if (variant == "alpha")
        return work * (values > 2000 && aspect >= 300 ? 1.0 : 1.6) * (configuration == "block=64" ? 1.2 : 1);
    return work * 0.9;  // the peer is best almost everywhere, and never to be chosen
}

std::vector<CaseRecord> records(const Times& times, const std::vector<std::string>& keys, double noise,
                                std::uint64_t seed) {
    constexpr int kRounds = 11;
    std::mt19937_64 random(seed);
    std::normal_distribution<double> own(0, noise);
    std::uniform_real_distribution<double> common(1, 1.05);
    std::vector<CaseRecord> all;
    for (const std::string& key : keys) {
        std::vector<double> rounds(kRounds);
        for (double& factor : rounds) factor = common(random);
        for (std::size_t v = 0; v < family().variants().size(); ++v) {
            const VariantInfo& variant = family().variants()[v];
            for (const Configuration& configuration : variant.configurations) {
                CaseRecord record{.family = "synthetic",
                                  .variant = std::string(variant.name),
                                  .role = std::string(to_string(variant.role)),
                                  .problem = key,
                                  .configuration = configuration.text()};
                record.provenance = {.device_key = device().key,
                                     .driver = "6.1",
                                     .runtime = "gcc 12",
                                     .build = "test",
                                     .source_id = std::string(variant.source_id),
                                     .cache = "warm",
                                     .session = "1"};
                if (const Support support = family().supports(v, key, configuration, device()); !support) {
                    record.status = Status::unsupported;
                    record.reason = support.reason;
                } else {
                    record.status = Status::ok;
                    const double time = times(record.variant, record.configuration, family().feature_values(key));
                    for (const double factor : rounds)
                        record.samples_ns.push_back(time * factor * std::exp(own(random)));
                    auto sorted = record.samples_ns;
                    std::sort(sorted.begin(), sorted.end());
                    record.time_ns = sorted[kRounds / 2];
                    record.time_lo_ns = sorted[1], record.time_hi_ns = sorted[kRounds - 2];
                }
                all.push_back(std::move(record));
            }
        }
    }
    return all;
}

learn::Tree tree_of_pairs(const learn::Matrix& matrix) {
    const auto column = [&](learn::InteractionKind kind) {
        const auto at = std::ranges::find_if(matrix.columns, [&](const auto& c) { return c.interaction.kind == kind; });
        return static_cast<std::uint16_t>(at - matrix.columns.begin());
    };
    const auto ratio = column(learn::InteractionKind::ratio), product = column(learn::InteractionKind::product);
    learn::Tree tree;
    tree.nodes = {TreeNode::at_most(ratio, 0.3, 4),
                  TreeNode::at_most(product, 3e15, 3),
                  TreeNode::leaf(0),
                  TreeNode::leaf(1),
                  TreeNode::at_most(product, 2000, 6),
                  TreeNode::leaf(2),
                  TreeNode::leaf(3)};
    for (int leaf = 0; leaf < 4; ++leaf) {
        tree.leaves.push_back({.rows = matrix.all(), .ranking = learn::rank(matrix, matrix.all())});
        learn::annotate(matrix, tree.leaves.back(), 1);
    }
    return tree;
}

}  // namespace espalier::bench::synthetic
