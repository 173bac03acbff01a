#pragma once

#include <google/protobuf/descriptor.h>

#include <chrono>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/wire/filter.h"

namespace trainyard::wire {

/// The right side of a comparison, read as the type of its left side; nullopt or null if that is impossible.
/// Pure: any thread.
[[nodiscard]] std::optional<long double> ReadNumber(std::string_view text);
[[nodiscard]] std::optional<bool> ReadBool(std::string_view text);
/// Reads RFC 3339, or a date, which means its midnight in UTC.
[[nodiscard]] std::optional<SysTime> ReadTime(std::string_view text);
/// Reads a number and its unit: ns, us, ms, s, m or h.
[[nodiscard]] std::optional<std::chrono::nanoseconds> ReadLength(std::string_view text);
/// Finds the value by name in any case, or by number.
[[nodiscard]] const google::protobuf::EnumValueDescriptor* FindEnumValue(
    const google::protobuf::EnumDescriptor& type, std::string_view text);

/// Whether `text` matches `pattern`, in which `*` matches any text.
[[nodiscard]] bool MatchesGlob(std::string_view text, std::string_view pattern, bool any_case = true);

/// `field:*`
[[nodiscard]] bool AsksForPresence(const Comparison& comparison);

}  // namespace trainyard::wire
