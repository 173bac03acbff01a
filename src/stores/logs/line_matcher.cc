#include "stores/logs/line_matcher.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/wire/utf8.h"
#include "stores/logs/line_query.h"

namespace trainyard::logs {
namespace {

/// Memory for the compiled expression and its automaton: if that is not enough, RE2 continues more slowly.
constexpr std::int64_t kExpressionBytesMax = std::int64_t{16} << 20;
/// For searching many lines at once: an automaton of this size certainly fits, so a byte costs 1 ns.
constexpr std::uint64_t kQuickLookSizeMax = 500;

std::optional<std::size_t> Find(std::string_view lines, std::string_view text, std::size_t from) {
  const void* found = ::memmem(lines.data() + from, lines.size() - from, text.data(), text.size());
  if (found == nullptr) return std::nullopt;
  return static_cast<std::size_t>(static_cast<const char*>(found) - lines.data());
}

Status CheckText(const std::string& text) {
  if (text.empty()) return std::unexpected(InvalidArgument("query", "Must not be empty"));
  if (text.size() > kSearchTextBytesMax) {
    return std::unexpected(InvalidArgument(
        "query", "Must not be longer than " + std::to_string(kSearchTextBytesMax) + " bytes"));
  }
  if (!wire::IsUtf8(text)) return std::unexpected(InvalidArgument("query", "Must be UTF-8"));
  return {};
}

Error TooLarge(bool regex, int size) {
  const std::string sizes =
      std::to_string(size) + " instructions, and may have " + std::to_string(kExpressionSizeMax) + ": ";
  if (!regex)
    return InvalidArgument("query", "The text compiles to " + sizes + "shorten it, or set matchCase");
  return InvalidArgument("query", "The expression compiles to " + sizes +
                                      "use fewer or smaller repetitions ({0,900}) and classes (\\pL)");
}

/// A query with an escape character searches for the codes themselves. Source: RE2's syntax for characters by
/// number.
bool NamesEscape(std::string_view query, bool is_plain) {
  if (query.contains('\x1b')) return true;
  constexpr std::array<std::string_view, 5> kInWords = {"\\x1b", "\\x1B", "\\x{1b}", "\\x{1B}", "\\033"};
  return !is_plain &&
         std::ranges::any_of(kInWords, [&](std::string_view word) { return query.contains(word); });
}

constexpr char kEscape = '\x1b';
constexpr std::string_view kParameters = "0123456789;:";

/// The length of the sequence at the beginning of a text that begins with "ESC ["; 0: it is not a colour
/// code.
std::size_t CodeBytes(std::string_view text) {
  const std::size_t end = text.find_first_not_of(kParameters, 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

}  // namespace

LineMatcher::LineMatcher(std::string text, std::unique_ptr<const RE2> expression, bool is_plain)
    : text_(std::move(text)),
      expression_(std::move(expression)),
      size_(expression_ == nullptr ? 1 : static_cast<std::uint64_t>(std::max(1, expression_->ProgramSize()))),
      has_quick_look_(is_plain && size_ <= kQuickLookSizeMax),
      names_escape_(NamesEscape(text_, is_plain)) {}

Result<LineMatcher> LineMatcher::Make(const std::string& text, Options options) {
  TY_RETURN_IF_ERROR(CheckText(text));
  if (!options.regex && options.match_case) return LineMatcher(text, nullptr, true);
  RE2::Options how;
  how.set_log_errors(false);
  how.set_max_mem(kExpressionBytesMax);
  how.set_literal(!options.regex);
  how.set_case_sensitive(options.match_case);
  auto expression = std::make_unique<const RE2>(text, how);
  if (!expression->ok()) return std::unexpected(InvalidArgument("query", expression->error()));
  if (expression->ProgramSize() > kExpressionSizeMax)
    return std::unexpected(TooLarge(options.regex, expression->ProgramSize()));
  return LineMatcher(text, std::move(expression), !options.regex);
}

LineMatcher::Answer LineMatcher::Look(std::string_view line_text,
                                      const std::function<bool()>& is_over) const {
  if (names_escape_ || !FindColourCode(line_text, 0)) return LookAtBytes(line_text, is_over);
  return LookAtBytes(WithoutColourCodes(line_text), is_over);
}

bool LineMatcher::Matches(std::string_view line_text) const {
  return Look(line_text, [] { return false; }) == Answer::kYes;
}

LineMatcher::Answer LineMatcher::LookAtBytes(std::string_view text,
                                             const std::function<bool()>& is_over) const {
  if (expression_ == nullptr) return Find(text, text_, 0) ? Answer::kYes : Answer::kNo;
  const re2::StringPiece all(text.data(), text.size());
  const std::size_t piece = kStepsAtOnce / size_;
  for (std::size_t begin = 0;; begin += piece - kPieceOverlap) {
    const std::size_t end = std::min(begin + piece, text.size());
    if (expression_->Match(all, begin, end, RE2::UNANCHORED, nullptr, 0)) return Answer::kYes;
    if (end == text.size()) return Answer::kNo;
    if (is_over()) return Answer::kOutOfTime;
  }
}
static_assert(kStepsAtOnce / kExpressionSizeMax > 2 * kPieceOverlap);

std::optional<std::size_t> LineMatcher::QuickLook(std::string_view lines, std::size_t from) const {
  if (expression_ == nullptr) return Find(lines, text_, from);
  re2::StringPiece place;
  const re2::StringPiece all(lines.data(), lines.size());
  if (!expression_->Match(all, from, lines.size(), RE2::UNANCHORED, &place, 1)) return std::nullopt;
  return static_cast<std::size_t>(place.data() - lines.data());
}

/// Searches for one byte and not for both: memchr is several times as fast as memmem for a short text.
std::optional<std::size_t> FindColourCode(std::string_view bytes, std::size_t from) {
  for (std::size_t at = from; (at = bytes.find(kEscape, at)) != std::string_view::npos; ++at)
    if (at + 1 < bytes.size() && bytes[at + 1] == '[') return at;
  return std::nullopt;
}

std::string WithoutColourCodes(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  std::size_t kept = 0;
  for (auto at = FindColourCode(text, 0); at; at = FindColourCode(text, *at + 1)) {
    const std::size_t size = CodeBytes(text.substr(*at));
    if (size == 0) continue;
    shown.append(text.substr(kept, *at - kept));
    kept = *at + size;
  }
  return shown.append(text.substr(kept));
}

}  // namespace trainyard::logs
