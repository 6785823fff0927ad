#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace espalier::bench {

/// An output would destroy an input, or another output. `what()` names both and says what to do.
class SameFile : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A file as messages name it: "-o a.csv", or only its path.
struct NamedFile {
    std::string option;  ///< may be empty
    std::string path;    ///< may be empty: not given
};

/// Throws SameFile if an output is one of the inputs or another output, under whatever name: through links, by another
/// spelling of the path. The standard output counts as an output, whatever is printed: `command a.csv >> a.csv`. To be
/// called before anything is written. Only regular files count: a terminal may be both.
/// "-" is the standard input or output.
void refuse_same_files(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs);

}  // namespace espalier::bench
