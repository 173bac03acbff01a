#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace trainyard::storage {

/// A pattern of object names: `*` any characters but '/', `**` any, a double star between slashes also
/// nothing at all ("a", two stars, "b" as path segments match "a/b"), `?` one character but '/', `[abc]`,
/// `[a-z]`, `[!a]`,
/// `{one,two}`, and `\` before a character that stands for itself. Characters are code points. Matching takes
/// time linear in the name. Pure: any thread. Source: Cloud Storage's page "List objects and prefixes using
/// glob".
class Glob {
 public:
  /// kInvalidArgument: an open bracket or brace, braces in braces, more than kAlternativesMax alternatives,
  /// or more than kBytesMax bytes.
  [[nodiscard]] static Result<Glob> Parse(std::string_view text);
  static constexpr std::size_t kBytesMax = 1024;
  static constexpr std::size_t kAlternativesMax = 64;

  [[nodiscard]] bool Matches(std::string_view name) const;
  /// What all names that match begin with.
  [[nodiscard]] const std::string& literal_head() const noexcept { return literal_head_; }

 private:
  struct Token {
    enum class Kind {
      kOne,      ///< one of `ranges`, or none of them if `negated`
      kStar,     ///< any but '/'
      kAny,      ///< any
      kSkipTwo,  ///< nothing, or as the two tokens that follow say
    };
    Kind kind = Kind::kOne;
    std::vector<std::pair<char32_t, char32_t>> ranges = {};
    bool negated = false;
  };
  using Tokens = std::vector<Token>;

  static Result<Tokens> ParseOne(std::string_view text);
  static bool MatchesOne(const Tokens& tokens, const std::u32string& name);
  static void Enter(const Tokens& tokens, std::size_t state, std::vector<bool>& states);

  std::string literal_head_;
  std::vector<Tokens> alternatives_;
};

}  // namespace trainyard::storage
