// Uses the library that espalier_add_library made: no harness, one call.

#include <cstdio>
#include <fast_transpose/transpose.hpp>
#include <vector>

int main() {
    const fast_transpose::transpose::Problem problem{.rows = 600, .columns = 400};
    std::vector<float> in(600 * 400), out(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
    if (const auto done = fast_transpose::transpose::run(problem, {in.data(), out.data()}); !done) {
        std::fprintf(stderr, "%s\n", done.error().message.c_str());
        return 1;
    }
    const auto choice = fast_transpose::transpose::choose(problem);
    std::printf("%s (%s): %s\n", choice.value().variant.c_str(), choice.value().configuration.c_str(),
                choice.value().reason.c_str());
    return out[1] == in[400] ? 0 : 1;
}
