// Models in double precision to files and back.

#include <algorithm>
#include <utility>

#include "espalier/exact_knn.hpp"
#include "kernels/api/exact_ask.hpp"
#include "kernels/api/exact_file.hpp"
#include "kernels/api/exact_model.hpp"

namespace espalier::inline v1 {
namespace {

using model_file::guarded_file;
using model_file::Kind;

/// A row for each point, of those of which equal ones are kept once.
exact::Rows rows_of_points(const exact::Table& table) {
    const exact::Rows& kept = table.points();
    exact::Rows all{.values = std::vector<double>(static_cast<std::size_t>(table.count() * kept.dims)),
                    .count = table.count(),
                    .dims = kept.dims,
                    .missing = kept.missing};
    for (std::int64_t row = 0; row < kept.count; ++row)
        for (const std::int32_t point : table.copies().of(row))
            std::copy_n(kept.of(row), kept.dims, all.values.data() + point * kept.dims);
    return all;
}

template <class Model, class Make>
Result<Model> loaded(const Device& device, const std::string& path, Kind kind, const Options& options, Make make) {
    return guarded_file([&]() -> Result<Model> {
        if (auto error = not_on_host(options)) return *error;
        exact_file::Contents contents = exact_file::read(path, kind);
        auto model = fit_rows(device, std::move(contents.rows), contents.rule, std::move(contents.task), options);
        if (!model) return model.error();
        return make(std::move(model).value());
    });
}

}  // namespace

Result<void> ExactKnnBase::save(const std::string& path) const {
    return guarded_file([&]() -> Result<void> {
        const ExactKnnModel& model = *present(model_);
        const exact::Table& table = model.table;
        if (table.copies().any())
            exact_file::write(path, model, table.rule(), rows_of_points(table));
        else
            exact_file::write(path, model, table.rule(), table.points());
        return {};
    });
}

Result<ExactKnnClassifier> ExactKnnClassifier::load(const Device& device, const std::string& path,
                                                    const Options& options) {
    return loaded<ExactKnnClassifier>(device, path, Kind::exact_classifier, options,
                                      [](auto model) { return ExactKnnClassifier(std::move(model)); });
}

Result<ExactKnnRegressor> ExactKnnRegressor::load(const Device& device, const std::string& path,
                                                  const Options& options) {
    return loaded<ExactKnnRegressor>(device, path, Kind::exact_regressor, options,
                                     [](auto model) { return ExactKnnRegressor(std::move(model)); });
}

Result<ExactNearestNeighbours> ExactNearestNeighbours::load(const Device& device, const std::string& path,
                                                            const Options& options) {
    return loaded<ExactNearestNeighbours>(device, path, Kind::exact_neighbours, options,
                                          [](auto model) { return ExactNearestNeighbours(std::move(model)); });
}

}  // namespace espalier::inline v1
