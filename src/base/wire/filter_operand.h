#pragma once

#include <google/protobuf/descriptor.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/wire/filter.h"

namespace trainyard::wire {

/// Reads a filter's text token by token. Which token is possible depends on the position, so the parser asks
/// for specific ones. Views into the text stay valid as long as the text.
class FilterLexer {
 public:
  explicit FilterLexer(std::string_view text) : text_(text) {}

  /// Skips blanks and comments. Returns whether the end is reached.
  bool AtEnd();
  /// Consumes `c` if it comes next.
  bool Take(char c);
  [[nodiscard]] bool Peek(char c);
  /// Consumes the keyword (AND, OR, NOT) if it comes next as a whole word.
  bool TakeKeyword(std::string_view keyword);
  [[nodiscard]] bool PeekKeyword(std::string_view keyword);
  /// Consumes a leading '-' that negates what follows it without a blank.
  bool TakeMinus();
  /// Consumes a comparator if one comes next.
  bool TakeComparator(Comparator& comparator);

  struct Text {
    std::string text;
    bool quoted = false;
  };
  /// Reads `labels."a.b"` as its parts, or a single word or quoted text as one part. False: the lexer is at
  /// the mistake.
  bool TakePath(std::vector<Text>& parts);
  /// Reads what may follow a comparator. False: the lexer is at the mistake.
  bool TakeValue(Text& value);

  /// A syntax error at the current position.
  [[nodiscard]] Error Mistake() const;

  /// The current position in bytes, and a position as errors print it: "line 1, column 5".
  [[nodiscard]] std::size_t at() const noexcept { return at_; }
  [[nodiscard]] std::string Place(std::size_t at) const;

 private:
  bool TakeQuoted(std::string& text);
  void TakeEscape(std::string& text);

  std::string_view text_;
  std::size_t at_ = 0;
};

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
