#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// One tunable of a variant with the value chosen for it, e.g. {"block", 256}.
struct Setting {
    std::string_view name;
    int value = 0;

    friend constexpr bool operator==(const Setting&, const Setting&) = default;
};

/// One setting of all tunables of a variant, in the order of its `ParameterSpace`.
/// A literal type, so that generated selectors hold their configurations in read-only memory.
/// Names are not owned: they point at the string literals in the variant's source.
class Configuration {
public:
    static constexpr std::size_t kCapacity = 5;

    constexpr Configuration() = default;
    constexpr Configuration(std::initializer_list<Setting> settings) {
        for (const Setting& setting : settings) push_back(setting);
    }

    constexpr void push_back(Setting setting) {
        if (size_ == kCapacity) throw std::length_error("a configuration holds at most 5 settings");
        settings_[size_++] = setting;
    }

    [[nodiscard]] constexpr const Setting* begin() const { return settings_.data(); }
    [[nodiscard]] constexpr const Setting* end() const { return settings_.data() + size_; }
    [[nodiscard]] constexpr std::size_t size() const { return size_; }

    /// The value of the tunable called `name`; asking for one that the variant lacks is a bug.
    [[nodiscard]] constexpr int operator[](std::string_view name) const {
        for (const Setting& setting : *this)
            if (setting.name == name) return setting.value;
        throw std::out_of_range("no tunable called " + std::string(name));
    }

    /// The same but for the setting that is written like "parallel=0"; nothing if it has none of that name.
    [[nodiscard]] constexpr std::optional<Configuration> with(std::string_view setting) const {
        const auto equals = setting.find('=');
        if (equals == std::string_view::npos || equals + 1 == setting.size()) return std::nullopt;
        int value = 0;
        for (const char digit : setting.substr(equals + 1)) {
            if (digit < '0' || digit > '9' || value > 100'000'000) return std::nullopt;
            value = value * 10 + (digit - '0');
        }
        Configuration other = *this;
        for (std::size_t i = 0; i < size_; ++i) {
            if (settings_[i].name != setting.substr(0, equals)) continue;
            other.settings_[i].value = value;
            return other;
        }
        return std::nullopt;
    }

    /// "block=256;items=4", or "default" for a variant without tunables.
    [[nodiscard]] std::string text() const {
        std::string result;
        for (const auto& [name, value] : *this) {
            if (!result.empty()) result += ';';
            result.append(name).append("=").append(std::to_string(value));
        }
        return result.empty() ? "default" : result;
    }

    friend constexpr bool operator==(const Configuration& a, const Configuration& b) {
        return a.size_ == b.size_ && a.settings_ == b.settings_;
    }

private:
    std::array<Setting, kCapacity> settings_{};
    std::size_t size_ = 0;
};

/// One tunable and the values worth measuring, the default first.
struct Axis {
    std::string_view name;
    std::vector<int> values;
};

/// Every configuration of a variant: the Cartesian product of its axes. No axes, one configuration.
class ParameterSpace {
public:
    ParameterSpace() = default;
    ParameterSpace(std::initializer_list<Axis> axes) : axes_(axes) {}

    [[nodiscard]] const std::vector<Axis>& axes() const { return axes_; }

    /// All configurations; the first one is the default (the first value of every axis).
    [[nodiscard]] std::vector<Configuration> enumerate() const {
        std::vector<Configuration> all{Configuration{}};
        for (const Axis& axis : axes_) {
            std::vector<Configuration> longer;
            for (const Configuration& prefix : all)
                for (int value : axis.values) {
                    longer.push_back(prefix);
                    longer.back().push_back({axis.name, value});
                }
            all = std::move(longer);
        }
        return all;
    }

private:
    std::vector<Axis> axes_;
};

}  // namespace espalier
