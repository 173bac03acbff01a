#pragma once

#include <re2/re2.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace trainyard::logs {

/// Instructions of a compiled expression. A hostile text costs each of them some 11 ns a byte, so this is up
/// to 45 us a byte; `\p{Lu}\p{Ll}* \p{L}+` has 2,800, what is written by hand mostly below 100.
inline constexpr int kExpressionSizeMax = 4'000;
/// Instructions times bytes that are looked at between two looks at the clock: at most some 0.5 s.
inline constexpr std::uint64_t kStepsAtOnce = std::uint64_t{48} << 20;
/// A longer text is looked at in pieces that have so many bytes in common.
inline constexpr std::size_t kPieceOverlap = std::size_t{4} << 10;

/// What a search looks for in a line's text, as a terminal shows it: without the codes that colour it, unless
/// the query has an escape character itself. Pure: any thread.
class LineMatcher {
 public:
  struct Options {
    bool regex = false;       ///< RE2, anywhere in the text; ^ and $ are its ends
    bool match_case = false;  ///< else as Unicode's simple case folding has it
  };
  /// kInvalidArgument with field "query": empty, longer than kSearchTextBytesMax, not UTF-8, no
  /// expression, in RE2's words, or larger than kExpressionSizeMax.
  [[nodiscard]] static Result<LineMatcher> Make(const std::string& text, Options options);

  enum class Answer { kNo, kYes, kOutOfTime };
  /// Looks at the text until `is_over`, which is asked between pieces of a text that is more than
  /// kStepsAtOnce. What is longer than kPieceOverlap is not found where it lies across pieces; ^ and $ are
  /// the ends of the text all the same.
  [[nodiscard]] Answer Look(std::string_view line_text, const std::function<bool()>& is_over) const;
  /// Without an end.
  [[nodiscard]] bool Matches(std::string_view line_text) const;
  /// Instructions times bytes that looking at a text takes at most.
  [[nodiscard]] std::uint64_t StepsOf(std::size_t text_bytes) const noexcept { return size_ * text_bytes; }

  /// Where many serialized lines, taken as one text, first match at or after `from`: a line that does not
  /// touch such a place, and has no colour codes that are looked through, cannot match. Whether the place
  /// lies within a line's text is not known. Only where HasQuickLook().
  [[nodiscard]] std::optional<std::size_t> QuickLook(std::string_view lines, std::size_t from) const;
  [[nodiscard]] bool HasQuickLook() const noexcept { return has_quick_look_; }
  /// Whether a text that FindColourCode finds something in may match where its bytes do not.
  [[nodiscard]] bool LooksThroughColours() const noexcept { return !names_escape_; }

 private:
  LineMatcher(std::string text, std::unique_ptr<const RE2> expression, bool is_plain);
  [[nodiscard]] Answer LookAtBytes(std::string_view text, const std::function<bool()>& is_over) const;

  std::string text_;
  std::unique_ptr<const RE2> expression_;  ///< null: the bytes of text_
  std::uint64_t size_;                     ///< instructions; at least 1
  bool has_quick_look_;
  bool names_escape_;
};

}  // namespace trainyard::logs
