#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace re2 {
class RE2;
}

namespace trainyard::storage {

/// A pattern of object names: `*` any characters but '/', `**` any, a double star between slashes also
/// nothing at all ("a", two stars, "b" as path segments match "a/b"), `?` one character but '/', `[abc]`,
/// `[a-z]`, `[!a]`, `{one,two}`, and `\` before a character to match it literally. Characters are code
/// points.
///
/// Matching never backtracks (RE2): a name takes one pass, however many stars the pattern has. Pure: any
/// thread. Source: Cloud Storage's page "List objects and prefixes using glob".
class Glob {
 public:
  /// kInvalidArgument: an open bracket or brace, braces in braces, more than kAlternativesMax alternatives,
  /// more than kBytesMax bytes, or more than kStatesMax characters in all alternatives together.
  [[nodiscard]] static Result<Glob> Parse(std::string_view text);
  static constexpr std::size_t kBytesMax = 1024;
  static constexpr std::size_t kAlternativesMax = 64;
  static constexpr std::size_t kStatesMax = 2048;

  [[nodiscard]] bool Matches(std::string_view name) const;
  /// The cost of Matches for the name: its characters, times one for every 64 characters of the pattern.
  [[nodiscard]] std::size_t WorkOf(std::string_view name) const { return name.size() * weight_; }
  /// The common prefix of all names that match.
  [[nodiscard]] const std::string& literal_head() const noexcept { return literal_head_; }

 private:
  std::string literal_head_;
  std::shared_ptr<const re2::RE2> expression_;  ///< shared: immutable, and globs are copied
  std::size_t weight_ = 1;
};

}  // namespace trainyard::storage
