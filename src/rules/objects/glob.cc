#include "rules/objects/glob.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>
#include <vector>

namespace trainyard::storage {
namespace {

constexpr std::size_t kWeightStates = 64;

std::unexpected<Error> Malformed(std::string_view why) {
  return std::unexpected(InvalidArgument({}, "Invalid value for 'matchGlob': " + std::string(why)));
}

/// Takes the first character, or the one after a backslash, in the form that RE2 uses in a class or alone.
Result<std::pair<char32_t, std::string>> TakeLiteral(std::string_view& text) {
  if (text.front() == '\\') text.remove_prefix(1);
  if (text.empty()) return Malformed("it ends in a backslash");
  const auto lead = static_cast<unsigned char>(text.front());
  std::size_t length = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (text.size() < length) length = 1;
  char32_t point = length == 1 ? lead : lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) point = point << 6 | (static_cast<unsigned char>(text[i]) & 0x3FU);
  text.remove_prefix(length);
  std::array<char, 16> printed{};
  std::snprintf(printed.data(), printed.size(), "\\x{%X}", static_cast<unsigned>(point));
  return std::pair(point, std::string(printed.data()));
}

/// The position of the brace that closes the one at `open`; npos if there is none.
std::size_t ClosingBrace(std::string_view text, std::size_t open) {
  for (std::size_t i = open + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '}' || text[i] == '{')
      return text[i] == '}' ? i : std::string_view::npos;
  }
  return std::string_view::npos;
}

/// The first brace that is not escaped and not in brackets.
std::size_t OpeningBrace(std::string_view text) {
  bool in_brackets = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '[')
      in_brackets = true;
    else if (text[i] == ']')
      in_brackets = false;
    else if (text[i] == '{' && !in_brackets)
      return i;
  }
  return std::string_view::npos;
}

std::vector<std::string> SplitAlternatives(std::string_view text) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ',') {
      parts.emplace_back();
      continue;
    }
    parts.back() += text[i];
    if (text[i] == '\\' && i + 1 < text.size()) parts.back() += text[++i];
  }
  return parts;
}

/// Expands braces: "a{b,c}" is "ab" and "ac".
Result<std::vector<std::string>> Expand(std::string_view text) {
  std::vector<std::string> whole{""};
  while (true) {
    const std::size_t open = OpeningBrace(text);
    for (std::string& begun : whole) begun.append(text.substr(0, open));
    if (open == std::string_view::npos) return whole;
    const std::size_t close = ClosingBrace(text, open);
    if (close == std::string_view::npos) return Malformed("a brace is not closed, or holds another one");
    const auto parts = SplitAlternatives(text.substr(open + 1, close - open - 1));
    if (whole.size() * parts.size() > Glob::kAlternativesMax)
      return Malformed("it has too many alternatives");
    std::vector<std::string> longer;
    for (const std::string& begun : whole) {
      for (const std::string& part : parts) longer.push_back(begun + part);
    }
    whole = std::move(longer);
    text.remove_prefix(close + 1);
  }
}

/// Translates what follows "[", up to and including the "]", to a class of RE2.
Result<std::string> TakeBrackets(std::string_view& text) {
  const bool negated = text.starts_with('!') || text.starts_with('^');
  if (negated) text.remove_prefix(1);
  std::string ranges;
  for (bool first_one = true; !text.empty() && (text.front() != ']' || first_one); first_one = false) {
    TY_TRY(const auto first, TakeLiteral(text));
    auto last = first;
    if (text.size() >= 2 && text[0] == '-' && text[1] != ']') {
      text.remove_prefix(1);
      TY_TRY(last, TakeLiteral(text));
    }
    if (first.first <= last.first) ranges += first.second + "-" + last.second;  // "[z-a]" matches nothing
  }
  if (text.empty()) return Malformed("a bracket is not closed");
  text.remove_prefix(1);
  if (ranges.empty()) return std::string(negated ? "." : "[^\\x{0}-\\x{10FFFF}]");
  return (negated ? "[^" : "[") + ranges + "]";
}

/// Translates one alternative to RE2's syntax. Adds its characters to `states`.
Result<std::string> Translate(std::string_view text, std::size_t& states) {
  constexpr std::string_view kSkipped = "(?:.*/)?";
  std::string expression;
  bool segment_begins = true;
  for (; !text.empty(); ++states) {
    const bool was_beginning = std::exchange(segment_begins, text.front() == '/');
    if (text.starts_with("**")) {
      text.remove_prefix(std::min(text.find_first_not_of('*'), text.size()));
      if (!was_beginning || !text.starts_with('/')) {
        expression += ".*";
        continue;
      }
      text.remove_prefix(1);
      segment_begins = true;
      if (!expression.ends_with(kSkipped)) expression += kSkipped;  // two in a row mean the same as one
    } else if (text.front() == '*' || text.front() == '?') {
      expression += text.front() == '*' ? "[^/]*" : "[^/]";
      text.remove_prefix(1);
    } else if (text.front() == '[') {
      text.remove_prefix(1);
      TY_TRY(const std::string brackets, TakeBrackets(text));
      expression += brackets;
    } else {
      TY_TRY(const auto literal, TakeLiteral(text));
      expression += literal.second;
    }
  }
  ++states;
  return expression;
}

}  // namespace

Result<Glob> Glob::Parse(std::string_view text) {
  if (text.size() > kBytesMax) return Malformed("it is longer than an object's name");
  Glob glob;
  glob.literal_head_ = text.substr(0, text.find_first_of("*?[{\\"));
  TY_TRY(const auto texts, Expand(text));
  std::string expression;
  std::size_t states = 0;
  for (const std::string& one : texts) {
    TY_TRY(const std::string translated, Translate(one, states));
    if (states > kStatesMax)
      return Malformed("its alternatives have more than " + std::to_string(kStatesMax) +
                       " characters together; ask for some of them at a time");
    expression += (expression.empty() ? "(?:" : ")|(?:") + translated;
  }
  re2::RE2::Options options;
  options.set_dot_nl(true);
  options.set_log_errors(false);
  glob.expression_ = std::make_shared<const re2::RE2>(expression + ")", options);
  if (!glob.expression_->ok()) return Malformed("it is no pattern of UTF-8 characters");
  glob.weight_ = (states + kWeightStates - 1) / kWeightStates;
  return glob;
}

bool Glob::Matches(std::string_view name) const { return re2::RE2::FullMatch(name, *expression_); }

}  // namespace trainyard::storage
