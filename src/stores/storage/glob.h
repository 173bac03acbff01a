#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace trainyard::storage {

/// A pattern of object names: `*` any characters but '/', `**` any, a double star between slashes also
/// nothing at all ("a", two stars, "b" as path segments match "a/b"), `?` one character but '/', `[abc]`,
/// `[a-z]`, `[!a]`,
/// `{one,two}`, and `\` before a character that stands for itself. Characters are code points.
///
/// Matching never backtracks: a name takes one pass, and each character one machine word for every 64 states,
/// however many stars the pattern has. Pure: any thread. Source: Cloud Storage's page "List objects and
/// prefixes using glob".
class Glob {
 public:
  /// kInvalidArgument: an open bracket or brace, braces in braces, more than kAlternativesMax alternatives,
  /// more than kBytesMax bytes, or more than kStatesMax characters in all alternatives together.
  [[nodiscard]] static Result<Glob> Parse(std::string_view text);
  static constexpr std::size_t kBytesMax = 1024;
  static constexpr std::size_t kAlternativesMax = 64;
  static constexpr std::size_t kStatesMax = 2048;

  [[nodiscard]] bool Matches(std::string_view name) const;
  /// The work of Matches for the name: characters times words.
  [[nodiscard]] std::size_t WorkOf(std::string_view name) const { return name.size() * initial_.size(); }
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

  /// One bit for each state: "before token i", the alternatives one after the other.
  using States = std::vector<std::uint64_t>;

  static Result<Tokens> ParseOne(std::string_view text);
  void AddClasses(const std::vector<Tokens>& alternatives);
  void AddStates(const std::vector<Tokens>& alternatives);
  void Accept(const Token& token, std::size_t state);
  [[nodiscard]] std::size_t ClassOf(char32_t point) const;
  void EnterSkipped(States& states) const;

  std::string literal_head_;
  /// Characters between two of these (the first is 0) are alike for the pattern.
  std::vector<char32_t> class_starts_;
  std::vector<States> accepting_;  ///< by class: the states whose token takes such a character
  States initial_, final_, stars_, anys_, skips_;
};

}  // namespace trainyard::storage
