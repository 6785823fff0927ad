#include "harness/bench/records/conditions.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace espalier::bench {
namespace {

struct ConditionField {
    std::string_view name;
    Conditions::Value Conditions::*value;
};

constexpr std::array kConditionFields{ConditionField{"clock_share", &Conditions::clock_share},
                                      ConditionField{"counting_seconds", &Conditions::counting_seconds},
                                      ConditionField{"disturbed_rounds", &Conditions::disturbed_rounds},
                                      ConditionField{"disturbed_share", &Conditions::disturbed_share},
                                      ConditionField{"foreign_cpu_share", &Conditions::foreign_cpu_share},
                                      ConditionField{"gpu_ordinal", &Conditions::gpu_ordinal},
                                      ConditionField{"host_foreign_share", &Conditions::host_foreign_share},
                                      ConditionField{"host_steal_share", &Conditions::host_steal_share},
                                      ConditionField{"problem_seconds", &Conditions::problem_seconds},
                                      ConditionField{"processors", &Conditions::processors},
                                      ConditionField{"repeated_rounds", &Conditions::repeated_rounds},
                                      ConditionField{"resolution_ns", &Conditions::resolution_ns},
                                      ConditionField{"samples_not_kept", &Conditions::samples_not_kept},
                                      ConditionField{"sm_clock_mhz", &Conditions::sm_clock_mhz},
                                      ConditionField{"steal_cpu_share", &Conditions::steal_cpu_share},
                                      ConditionField{"temperature_c", &Conditions::temperature_c},
                                      ConditionField{"throttle_reasons", &Conditions::throttle_reasons},
                                      ConditionField{"transfer_ns", &Conditions::transfer_ns}};

}  // namespace

NamedValues named_values(const Conditions& conditions) {
    NamedValues values = conditions.others;
    for (const ConditionField& field : kConditionFields)
        if (const auto& value = conditions.*field.value) values.emplace_back(field.name, *value);
    std::ranges::sort(values);
    return values;
}

Conditions conditions_of(const NamedValues& values) {
    Conditions conditions;
    for (const auto& [name, value] : values) {
        const auto field = std::ranges::find(kConditionFields, name, &ConditionField::name);
        if (field == kConditionFields.end())
            conditions.others.emplace_back(name, value);
        else
            conditions.*field->value = value;
    }
    std::ranges::sort(conditions.others);
    return conditions;
}

}  // namespace espalier::bench
