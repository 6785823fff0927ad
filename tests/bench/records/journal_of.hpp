#pragma once

#include <string>
#include <vector>

#include "harness/bench/records/journal.hpp"
#include "tests/support/record_samples.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::bench {

/// A journal with these records, after a device and a plan for them.
inline std::string journal(const TemporaryFolder& folder, const std::string& name,
                           const std::vector<CaseRecord>& records, DeviceInfo device = sample_device()) {
    const std::string path = folder / name;
    JournalWriter writer(path);
    writer.append(device);
    writer.append(records);
    return path;
}

}  // namespace espalier::bench
