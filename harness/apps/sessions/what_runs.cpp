#include "harness/apps/sessions/what_runs.hpp"

namespace espalier::bench::apps {

std::string what_runs(const Explanation& explanation) {
    return explanation.family + "/" + what_runs(explanation.variant, explanation.configuration);
}

std::string what_runs(const std::string& variant, const std::string& configuration) {
    return configuration == "default" ? variant : variant + " (" + configuration + ")";
}

}  // namespace espalier::bench::apps
