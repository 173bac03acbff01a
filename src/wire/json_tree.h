#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace trainyard::wire {

/// Nesting of objects and arrays that a body may have. Protobuf's binary form nests three messages per level
/// of a Struct and reads 100.
inline constexpr std::size_t kJsonDepthMax = 32;

/// A JSON document as it was written: members in order, doubled ones kept, numbers as text.
struct JsonValue {
  enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject };
  Kind kind = Kind::kNull;
  std::string name;                 ///< as a member of an object
  std::string text;                 ///< of a string (decoded), number or bool
  std::vector<JsonValue> children;  ///< elements or members
};

/// RFC 8259, and a comma after the last element as protobuf accepts it. kInvalidArgument with the parser's
/// own short reason. Pure: any thread.
[[nodiscard]] Result<JsonValue> ParseJsonTree(std::string_view text);

}  // namespace trainyard::wire
