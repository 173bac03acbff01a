#pragma once

#include <google/protobuf/descriptor.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"

namespace google::protobuf {
class Message;
}

namespace trainyard::wire {

/// A message or map that a path leads to; text below it can be searched.
struct NestedValue {
  const google::protobuf::Message* message =
      nullptr;  ///< not owned: lives as long as the message of the query
};

/// What a filter's path leads to in a message.
struct FieldValue {
  std::variant<std::string, double, std::int64_t, std::uint64_t, bool, SysTime, std::chrono::nanoseconds,
               const google::protobuf::EnumValueDescriptor*, NestedValue>
      value;
  bool is_set = true;  ///< false for a scalar field at its default
};

/// All values at the path: none if a part of the path does not exist, several through lists. Pure: any
/// thread.
[[nodiscard]] std::vector<FieldValue> ValuesAt(const google::protobuf::Message& message,
                                               const std::vector<std::string>& path);

/// Whether any text at or below the message (map keys, enum names and Structs included) contains `needle`,
/// without case.
[[nodiscard]] bool ContainsText(const google::protobuf::Message& message, const std::string& needle);

/// Whether `text` contains `needle`, comparing ASCII letters without case.
[[nodiscard]] bool ContainsIgnoringCase(std::string_view text, std::string_view needle) noexcept;

}  // namespace trainyard::wire
