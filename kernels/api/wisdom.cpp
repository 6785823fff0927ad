#include "espalier/wisdom.hpp"

#include <string>

#include "kernels/api/guarded.hpp"
#include "kernels/api/new_file.hpp"
#include "kernels/dispatch/loaded_trees.hpp"
#include "kernels/dispatch/wisdom.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier::inline v1 {

Result<LoadedWisdom> load_wisdom(std::string_view path) {
    return guarded([&]() -> Result<LoadedWisdom> {
        load_selectors_of_environment();  // what the environment names is older
        try {
            return load_wisdom_file(std::string(path));
        } catch (const BadData& error) {
            return Error{ErrorCode::bad_file, error.what()};
        }
    });
}

Result<void> save_wisdom(std::string_view path) {
    return guarded([&]() -> Result<void> {
        load_selectors_of_environment();
        const std::string text = wisdom_text();
        try {
            NewFile file{std::string(path)};
            file.write(text.data(), text.size());
            file.finish();
        } catch (const BadData& error) {
            return Error{ErrorCode::bad_file, error.what()};
        }
        return {};
    });
}

void forget_wisdom() noexcept {
    static_cast<void>(guarded([]() -> Result<void> {
        load_selectors_of_environment();  // or the next decision would read it
        return {};
    }));
    forget_all_wisdom();
}

}  // namespace espalier::inline v1
