#include "espalier/selectors.hpp"

#include "kernels/api/guarded.hpp"
#include "kernels/dispatch/loaded_trees.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier::inline v1 {

Result<std::vector<LoadedSelector>> load_selectors(std::string_view path) {
    return guarded([&]() -> Result<std::vector<LoadedSelector>> {
        try {
            return load_trees(std::string(path));
        } catch (const BadData& error) {
            return Error{ErrorCode::bad_file, error.what()};
        }
    });
}

Result<LoadedSelectors> loaded_selectors() {
    return guarded([]() -> Result<LoadedSelectors> { return LoadedSelectors{trees_in_use(), ignored_selectors()}; });
}

}  // namespace espalier::inline v1
