#pragma once

#include <compare>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/configuration/key.h"

namespace trainyard::configuration {

inline constexpr std::size_t kFileBytesMax = std::size_t{1} << 20;
/// The limit of values per key.
inline constexpr std::size_t kValuesMax = 10'000;
inline constexpr std::size_t kTextBytesMax = 4096;
/// Reading stops after this many mistakes.
inline constexpr std::size_t kMistakesMax = 100;

/// Something that is wrong in a file.
struct Mistake {
  int line = 0;     ///< counted from 1; 0: the file as a whole
  std::string key;  ///< empty: not about one key
  std::string reason;
  friend auto operator<=>(const Mistake&, const Mistake&) = default;  ///< in the order of lines
};

/// The contents of a file. Both lists are in the order of its lines.
struct Reading {
  std::vector<Setting> settings;  ///< each key once, without those that have a mistake
  std::vector<Mistake> mistakes;
};

/// Reads a file: one YAML document, a mapping whose keys are those given. A switch is a YAML 1.1 boolean. A
/// key that takes one value has a scalar, whose text is used unchanged (2.10 stays 2.10). A list is a
/// sequence, or one scalar. If values have the form NAME=VALUE, the file may have a mapping, or mappings in
/// the sequence. Anything that would be lost or surprising is refused: further documents, aliases, merge
/// keys, tags, keys given twice, keys without a value, relative paths, more than the limits above. A mistake
/// in YAML itself ends the reading; all others are listed, up to a limit. Pure: any thread. Source:
/// docs/operators.md, "Configuration file".
[[nodiscard]] Reading Read(std::string_view text, std::span<const Key> keys);

/// "FILE:LINE: KEY: REASON". Pure: any thread.
[[nodiscard]] std::string Describe(const Mistake& mistake, std::string_view file);

}  // namespace trainyard::configuration
