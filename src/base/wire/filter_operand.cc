#include "base/wire/filter_operand.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "base/number.h"
#include "base/wire/time.h"
#include "base/wire/utf8.h"

namespace trainyard::wire {

namespace {

constexpr std::size_t kTokenShownMax = 40;
constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kEndsWord = " \t\r\n()\"=<>!:~";
constexpr std::string_view kEndsPart = " \t\r\n()\"=<>!:~.";
constexpr std::string_view kEndsValue = " \t\r\n()\"";

// Longer ones first.
constexpr std::array<std::pair<std::string_view, Comparator>, 9> kComparators{{
    {"=~", Comparator::kMatches},
    {"!~", Comparator::kNotMatches},
    {"!=", Comparator::kNotEqual},
    {"<=", Comparator::kLessOrEqual},
    {">=", Comparator::kGreaterOrEqual},
    {"=", Comparator::kEqual},
    {"<", Comparator::kLess},
    {">", Comparator::kGreater},
    {":", Comparator::kHas},
}};

void AppendUtf8(std::string& text, std::uint32_t c) {
  const auto put = [&](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | (c >> 6));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xE0 | (c >> 12));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

}  // namespace

bool FilterLexer::AtEnd() {
  for (;;) {
    at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size());
    if (!text_.substr(at_).starts_with("--")) return at_ == text_.size();
    at_ = std::min(text_.find('\n', at_), text_.size());
  }
}

bool FilterLexer::Take(char c) {
  if (AtEnd() || text_[at_] != c) return false;
  ++at_;
  return true;
}

bool FilterLexer::Peek(char c) { return !AtEnd() && text_[at_] == c; }

bool FilterLexer::PeekKeyword(std::string_view keyword) {
  if (AtEnd() || !text_.substr(at_).starts_with(keyword)) return false;
  const std::size_t end = at_ + keyword.size();
  return end == text_.size() || kEndsPart.contains(text_[end]);
}

bool FilterLexer::TakeKeyword(std::string_view keyword) {
  if (!PeekKeyword(keyword)) return false;
  at_ += keyword.size();
  return true;
}

bool FilterLexer::TakeMinus() {
  if (AtEnd() || text_[at_] != '-' || at_ + 1 == text_.size() || kBlanks.contains(text_[at_ + 1]))
    return false;
  ++at_;
  return true;
}

bool FilterLexer::TakeComparator(Comparator& comparator) {
  if (AtEnd()) return false;
  for (const auto& [text, value] : kComparators) {
    if (!text_.substr(at_).starts_with(text)) continue;
    at_ += text.size();
    comparator = value;
    return true;
  }
  return false;
}

bool FilterLexer::TakePath(std::vector<Text>& parts) {
  if (AtEnd()) return false;
  for (;;) {
    Text part{.text = {}, .quoted = at_ < text_.size() && text_[at_] == '"'};
    if (part.quoted) {
      if (!TakeQuoted(part.text)) return false;
    } else {
      const std::size_t end = std::min(text_.find_first_of(kEndsPart, at_), text_.size());
      part.text = text_.substr(at_, end - at_);
      if (part.text.empty()) return false;
      at_ = end;
    }
    parts.push_back(std::move(part));
    // A dot at the end of a searched word is text, not a path that continues.
    const bool goes_on = at_ + 1 < text_.size() && text_[at_] == '.' &&
                         (text_[at_ + 1] == '"' || !kEndsPart.contains(text_[at_ + 1]));
    if (!goes_on) break;
    ++at_;
  }
  if (at_ < text_.size() && text_[at_] == '.') {
    const std::size_t end = std::min(text_.find_first_of(kEndsWord, at_), text_.size());
    parts.back().text += text_.substr(at_, end - at_);
    at_ = end;
  }
  return true;
}

bool FilterLexer::TakeValue(Text& value) {
  if (AtEnd()) return false;
  value.quoted = text_[at_] == '"';
  if (value.quoted) return TakeQuoted(value.text);
  if (std::string_view("=<>!:~").contains(text_[at_])) return false;
  const std::size_t end = std::min(text_.find_first_of(kEndsValue, at_), text_.size());
  value.text = text_.substr(at_, end - at_);
  if (value.text.empty()) return false;
  at_ = end;
  return true;
}

bool FilterLexer::TakeQuoted(std::string& text) {
  const std::size_t start = at_++;
  while (at_ < text_.size() && text_[at_] != '"') {
    if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
      TakeEscape(text);
    } else {
      text.push_back(text_[at_++]);
    }
  }
  if (at_ >= text_.size()) {
    at_ = start;
    return false;
  }
  ++at_;
  return true;
}

/// An unknown escape is kept, so that patterns can contain \d.
void FilterLexer::TakeEscape(std::string& text) {
  const char c = text_[at_ + 1];
  at_ += 2;
  switch (c) {
    case 'n': text.push_back('\n'); return;
    case 't': text.push_back('\t'); return;
    case 'r': text.push_back('\r'); return;
    case '"':
    case '\'':
    case '\\': text.push_back(c); return;
    case 'u': {
      const std::string_view digits = text_.substr(at_, 4);
      const auto code = WholeNumber<std::uint32_t>(digits, 16);
      std::string character;
      if (code && digits.size() == 4) AppendUtf8(character, *code);
      if (!character.empty() && IsUtf8(character)) {
        text += character;
        at_ += 4;
        return;
      }
      [[fallthrough]];
    }
    default: text.push_back('\\'); text.push_back(c);
  }
}

std::string FilterLexer::Place(std::size_t at) const {
  const std::string_view before = text_.substr(0, at);
  const auto line = std::ranges::count(before, '\n') + 1;
  const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return "line " + std::to_string(line) + ", column " + std::to_string(at - line_start + 1);
}

Error FilterLexer::Mistake() const {
  std::string_view token = text_.substr(at_);
  token = token.substr(0, std::max<std::size_t>(1, std::min(token.find_first_of(kEndsWord), kTokenShownMax)));
  return InvalidArgument("filter", "Unparseable filter: syntax error at " + Place(at_) +
                                       (token.empty() ? ", unexpected end of filter"
                                                      : ", token '" + ReplaceMalformed(token) + "'"));
}

std::optional<long double> ReadNumber(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const bool negative = text.starts_with('-');
  const std::string_view unsigned_text = text.substr(negative ? 1 : 0);
  if (unsigned_text.empty()) return std::nullopt;
  // from_chars of libstdc++ 12 reads beyond the end of a text that begins like these.
  if (ToLower(unsigned_text[0]) == 'n' || ToLower(unsigned_text[0]) == 'i') {
    using Limits = std::numeric_limits<long double>;
    if (EqualsIgnoringCase(unsigned_text, "nan")) return Limits::quiet_NaN();
    if (!EqualsIgnoringCase(unsigned_text, "infinity")) return std::nullopt;
    return negative ? -Limits::infinity() : Limits::infinity();
  }
  return WholeNumber<long double>(text);
}

std::optional<bool> ReadBool(std::string_view text) {
  if (EqualsIgnoringCase(text, "true")) return true;
  if (EqualsIgnoringCase(text, "false")) return false;
  return std::nullopt;
}

std::optional<SysTime> ReadTime(std::string_view text) {
  constexpr std::size_t kDateLength = 10;
  const auto time =
      ParseTime(text.size() == kDateLength ? std::string(text) + "T00:00:00Z" : std::string(text));
  return time ? std::optional(*time) : std::nullopt;
}

std::optional<std::chrono::nanoseconds> ReadLength(std::string_view text) {
  // Longer ones first: "ms" ends in "s".
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 6> kUnits{
      {{"ns", 1},
       {"us", 1'000},
       {"ms", 1'000'000},
       {"s", 1'000'000'000},
       {"m", 60'000'000'000},
       {"h", 3'600'000'000'000}}};
  const auto* unit =
      std::ranges::find_if(kUnits, [&](const auto& candidate) { return text.ends_with(candidate.first); });
  if (unit == kUnits.end()) return std::nullopt;
  const auto count = ReadNumber(text.substr(0, text.size() - unit->first.size()));
  if (!count) return std::nullopt;
  const long double length = std::round(*count * static_cast<long double>(unit->second));
  constexpr auto kMax = static_cast<long double>(std::numeric_limits<std::int64_t>::max());
  if (!(std::abs(length) < kMax)) return std::nullopt;  // also false for a NaN
  return std::chrono::nanoseconds(static_cast<std::int64_t>(length));
}

const google::protobuf::EnumValueDescriptor* FindEnumValue(const google::protobuf::EnumDescriptor& type,
                                                           std::string_view text) {
  const auto number = ReadNumber(text);
  for (int i = 0; i < type.value_count(); ++i) {
    const auto* value = type.value(i);
    if (EqualsIgnoringCase(value->name(), text) || (number && *number == value->number())) return value;
  }
  return nullptr;
}

bool MatchesGlob(std::string_view text, std::string_view pattern, bool any_case) {
  const auto is_same = [any_case](char a, char b) {
    return a == b || (any_case && ToLower(a) == ToLower(b));
  };
  // On a mismatch the last star takes one more character. No recursion, at most text * pattern steps.
  std::size_t t = 0;
  std::size_t p = 0;
  std::size_t star = std::string_view::npos;
  std::size_t after_star = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after_star = t;
    } else if (p < pattern.size() && is_same(pattern[p], text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++after_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool AsksForPresence(const Comparison& comparison) {
  return comparison.comparator == Comparator::kHas && comparison.value == "*" && !comparison.quoted;
}

}  // namespace trainyard::wire
