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

/// Limit on the instructions of a compiled expression. With a hostile text each costs some 11 ns per byte, so
/// this is up to 45 us per byte; `\p{Lu}\p{Ll}* \p{L}+` has 2,800, handwritten ones mostly have fewer than
/// 100.
inline constexpr int kExpressionSizeMax = 4'000;
/// Instructions times bytes between two checks of the clock: at most some 0.5 s.
inline constexpr std::uint64_t kStepsAtOnce = std::uint64_t{48} << 20;
/// A longer text is searched in pieces that overlap by this many bytes.
inline constexpr std::size_t kPieceOverlap = std::size_t{4} << 10;

/// What a search looks for in a line's text, as a terminal shows it: without the codes that colour it, unless
/// the query has an escape character itself. Pure: any thread.
class LineMatcher {
 public:
  struct Options {
    bool regex = false;       ///< RE2, anywhere in the text; ^ and $ are its ends
    bool match_case = false;  ///< otherwise compare with Unicode's simple case folding
  };
  /// kInvalidArgument with field "query": empty, longer than kSearchTextBytesMax, not UTF-8, not an
  /// expression (in RE2's words), or larger than kExpressionSizeMax.
  [[nodiscard]] static Result<LineMatcher> Make(const std::string& text, Options options);

  enum class Answer { kNo, kYes, kOutOfTime };
  /// Searches the text until `is_over`, which is called between pieces of a text that needs more than
  /// kStepsAtOnce. A match longer than kPieceOverlap is not found if it spans two pieces; ^ and $ are still
  /// the ends of the whole text.
  [[nodiscard]] Answer Look(std::string_view line_text, const std::function<bool()>& is_over) const;
  /// Searches without a time limit.
  [[nodiscard]] bool Matches(std::string_view line_text) const;
  /// The instructions times bytes that searching a text takes at most.
  [[nodiscard]] std::uint64_t StepsOf(std::size_t text_bytes) const noexcept { return size_ * text_bytes; }

  /// The first place at or after `from` where many serialized lines, taken as one text, match: a line that
  /// does not overlap such a place, and has no colour codes that are ignored, cannot match. The place need
  /// not be within a line's text. Only if HasQuickLook().
  [[nodiscard]] std::optional<std::size_t> QuickLook(std::string_view lines, std::size_t from) const;
  [[nodiscard]] bool HasQuickLook() const noexcept { return has_quick_look_; }
  /// Whether a text with colour codes (FindColourCode) may match although its bytes do not.
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

// Codes by which programs colour their output: SGR sequences, "ESC [ 1;31 m". Source: ECMA-48, sections 5.4
// and 8.3.117.

/// The first place at or after `from` where such a sequence may begin: at any "ESC [".
[[nodiscard]] std::optional<std::size_t> FindColourCode(std::string_view bytes, std::size_t from);

/// The text as a terminal shows it: without these sequences. Other sequences, and incomplete ones, stay.
[[nodiscard]] std::string WithoutColourCodes(std::string_view text);

}  // namespace trainyard::logs
