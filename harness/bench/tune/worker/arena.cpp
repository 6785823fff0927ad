#include "harness/bench/tune/worker/arena.hpp"

#include <algorithm>

#include "harness/bench/tune/worker/check.hpp"

namespace espalier::bench::tune {
namespace {

constexpr std::size_t kBand = 4096;  // a multiple of every alignment that a load can ask for
constexpr int kBandByte = 0xA5;
constexpr int kPoison = 0xFF;  // NaN in every real type, and no sensible whole number
using Memory = Argument::Memory;

}  // namespace

Arena::Arena(const Description& description, std::size_t problem) : description_(description) {
    placed_.reserve(description.arguments.size());
    for (std::size_t a = 0; a < description.arguments.size(); ++a) {
        Placed placed{make_argument(description, a, problem), {}, nullptr};
        if (description.arguments[a].memory == Memory::vector) {
            placed.memory = device::Buffer(placed.host.bytes.size() + 2 * kBand);
            placed.address = placed.memory.data() + kBand;
            mend_bands(placed);
            device::copy_to_device(placed.address, placed.host.bytes.data(), placed.host.bytes.size());
        }
        placed_.push_back(std::move(placed));
    }
    for (std::size_t a = 0; a < placed_.size(); ++a) switch (description.arguments[a].memory) {
            case Memory::vector: pointers_.push_back(&placed_[a].address); break;
            case Memory::scalar: pointers_.push_back(placed_[a].host.bytes.data()); break;
            case Memory::symbol: break;
        }
    restore_outputs();
    device::synchronize();
}

void Arena::mend_bands(const Placed& placed) const {
    device::fill(placed.memory.data(), kBandByte, kBand);
    device::fill(placed.memory.data() + kBand + placed.host.bytes.size(), kBandByte, kBand);
}

std::vector<std::size_t> Arena::parameter_bytes() const {
    std::vector<std::size_t> bytes;
    for (std::size_t a = 0; a < placed_.size(); ++a) {
        if (description_.arguments[a].memory == Memory::vector) bytes.push_back(sizeof(void*));
        if (description_.arguments[a].memory == Memory::scalar) bytes.push_back(placed_[a].host.bytes.size());
    }
    return bytes;
}

void Arena::fill_symbols(Module& module) {
    for (std::size_t a = 0; a < placed_.size(); ++a) {
        const Argument& argument = description_.arguments[a];
        if (argument.memory != Memory::symbol && !argument.constant) continue;
        const std::vector<std::byte>& bytes = placed_[a].host.bytes;
        void* symbol = module.symbol(argument.name, bytes.size());
        if (symbol == nullptr)
            throw device::DeviceError("the kernel's file has no __constant__ variable '" + argument.name + "' of " +
                                          std::to_string(bytes.size()) + " bytes or more",
                                      1);
        if (module.symbols_on_host())
            std::ranges::copy(bytes, static_cast<std::byte*>(symbol));
        else
            device::copy_to_device(symbol, bytes.data(), bytes.size());
    }
}

void Arena::restore_outputs() {
    for (std::size_t a = 0; a < placed_.size(); ++a) {
        const Argument& argument = description_.arguments[a];
        if (!argument.output) continue;
        const std::vector<std::byte>& bytes = placed_[a].host.bytes;
        if (argument.read)
            device::copy_to_device(placed_[a].address, bytes.data(), bytes.size());
        else
            device::fill(placed_[a].address, kPoison, bytes.size());
    }
}

std::vector<std::byte> Arena::outputs() const {
    std::vector<std::byte> all;
    for (std::size_t a = 0; a < placed_.size(); ++a) {
        if (!description_.arguments[a].output) continue;
        const std::size_t bytes = placed_[a].host.bytes.size(), before = all.size();
        all.resize(before + bytes);
        device::copy_to_host(all.data() + before, placed_[a].address, bytes);
    }
    device::synchronize();
    return all;
}

std::string Arena::damage() {
    std::string which;
    std::vector<std::byte> band(kBand);
    for (std::size_t a = 0; a < placed_.size(); ++a) {
        const Placed& placed = placed_[a];
        if (description_.arguments[a].memory != Memory::vector) continue;
        for (const std::size_t from : {std::size_t{0}, kBand + placed.host.bytes.size()}) {
            device::copy_to_host(band.data(), placed.memory.data() + from, kBand);
            device::synchronize();
            if (std::ranges::all_of(band, [](std::byte one) { return one == std::byte{kBandByte}; })) continue;
            which = std::string("the kernel writes ") + (from == 0 ? "before the start of " : "past the end of ") +
                    description_.arguments[a].name;
            mend_bands(placed);
        }
    }
    return which;
}

std::string Arena::difference_from(const std::vector<std::byte>& expected) const {
    const std::vector<std::byte> found = outputs();
    std::size_t at = 0;
    for (std::size_t a = 0; a < placed_.size(); ++a) {
        if (!description_.arguments[a].output) continue;
        const std::size_t bytes = placed_[a].host.bytes.size();
        if (expected.size() < at + bytes) return "the reference has fewer bytes than the outputs";
        std::string wrong = difference(description_.arguments[a], std::span(found).subspan(at, bytes),
                                       std::span(expected).subspan(at, bytes));
        if (!wrong.empty()) return wrong;
        at += bytes;
    }
    return {};
}

}  // namespace espalier::bench::tune
