#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace trainyard::wire {

/// The maximum nesting of objects and arrays in a body. Protobuf's binary form nests three messages per level
/// of a Struct and reads 100.
inline constexpr std::size_t kJsonDepthMax = 32;

/// The maximum number of values (elements, members and their containers) in a request's body. The largest
/// legitimate body known, a study of 1,000 parameters, has 7,000; this many are read in about 10 ms.
inline constexpr std::size_t kJsonValuesMax = 20'000;

/// A JSON document as written: members in order, duplicates kept, numbers as text.
struct JsonValue {
  enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject };
  Kind kind = Kind::kNull;
  std::string name;                 ///< as a member of an object
  std::string text;                 ///< text of a string (decoded), number or bool
  std::string written;              ///< a number as YAML has it, if that is not `text`: "+2.10", "1:30"
  int line = 0;                     ///< of a YAML document, from 1; 0: not known
  std::vector<JsonValue> children;  ///< elements or members
};

/// Parses RFC 8259; also accepts a comma after the last element, as protobuf does. Linear time.
///
/// @param values_max  kJsonValuesMax for untrusted texts; our own texts need no limit.
/// @return kInvalidArgument with the parser's own short reason; kResourceExhausted with the field ("a.b")
/// that contains the first value beyond `values_max`; nothing after it is read. Pure: any thread.
[[nodiscard]] Result<JsonValue> ParseJsonTree(std::string_view text, std::size_t values_max = SIZE_MAX);

/// The document as one line; numbers as they were written. Pure: any thread.
[[nodiscard]] std::string PrintJsonTree(const JsonValue& value);

/// Formats compact JSON (one line, well-formed) as the APIs show it: two spaces per level, "key": value,
/// newline at the end. Pure: any thread.
[[nodiscard]] std::string IndentJson(std::string_view compact);

/// The inverse of IndentJson: well-formed JSON without the blanks and line ends between its tokens.
/// Pure: any thread.
[[nodiscard]] std::string CompactJson(std::string_view text);

}  // namespace trainyard::wire
