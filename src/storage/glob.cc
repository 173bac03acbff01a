#include "storage/glob.h"

#include <algorithm>
#include <utility>

namespace trainyard::storage {
namespace {

std::unexpected<Error> Malformed(std::string_view why) {
  return std::unexpected(InvalidArgument({}, "Invalid value for 'matchGlob': " + std::string(why)));
}

/// One code point; a byte that begins none stands for itself.
char32_t TakeCodePoint(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (length == 1 || text.size() < length) {
    text.remove_prefix(1);
    return lead;
  }
  char32_t point = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) point = point << 6 | (static_cast<unsigned char>(text[i]) & 0x3FU);
  text.remove_prefix(length);
  return point;
}

/// A code point, or the one that a backslash protects.
Result<char32_t> TakeLiteral(std::string_view& text) {
  if (text.front() == '\\') text.remove_prefix(1);
  if (text.empty()) return Malformed("it ends in a backslash");
  return TakeCodePoint(text);
}

/// Where the brace that opens at `open` closes; npos if it does not.
std::size_t ClosingBrace(std::string_view text, std::size_t open) {
  for (std::size_t i = open + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '}' || text[i] == '{')
      return text[i] == '}' ? i : std::string_view::npos;
  }
  return std::string_view::npos;
}

/// The first brace that is not protected and not in brackets.
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

/// Without braces: "a{b,c}" is "ab" and "ac".
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

/// What follows "[", up to and with the "]".
Result<std::pair<std::vector<std::pair<char32_t, char32_t>>, bool>> TakeBrackets(std::string_view& text) {
  std::vector<std::pair<char32_t, char32_t>> ranges;
  const bool negated = text.starts_with('!') || text.starts_with('^');
  if (negated) text.remove_prefix(1);
  while (!text.empty() && (text.front() != ']' || ranges.empty())) {
    TY_TRY(const char32_t first, TakeLiteral(text));
    char32_t last = first;
    if (text.size() >= 2 && text[0] == '-' && text[1] != ']') {
      text.remove_prefix(1);
      TY_TRY(last, TakeLiteral(text));
    }
    ranges.emplace_back(first, last);
  }
  if (text.empty()) return Malformed("a bracket is not closed");
  text.remove_prefix(1);
  return std::pair(std::move(ranges), negated);
}

}  // namespace

Result<Glob::Tokens> Glob::ParseOne(std::string_view text) {
  Tokens tokens;
  bool segment_begins = true;
  while (!text.empty()) {
    const bool was_beginning = std::exchange(segment_begins, text.front() == '/');
    if (text.starts_with("**")) {
      text.remove_prefix(std::min(text.find_first_not_of('*'), text.size()));
      if (was_beginning && text.starts_with('/')) tokens.push_back({.kind = Token::Kind::kSkipTwo});
      tokens.push_back({.kind = Token::Kind::kAny});
    } else if (text.front() == '*') {
      text.remove_prefix(1);
      tokens.push_back({.kind = Token::Kind::kStar});
    } else if (text.front() == '?') {
      text.remove_prefix(1);
      tokens.push_back({.ranges = {{U'/', U'/'}}, .negated = true});
    } else if (text.front() == '[') {
      text.remove_prefix(1);
      TY_TRY(auto brackets, TakeBrackets(text));
      tokens.push_back({.ranges = std::move(brackets.first), .negated = brackets.second});
    } else {
      TY_TRY(const char32_t point, TakeLiteral(text));
      tokens.push_back({.ranges = {{point, point}}});
    }
  }
  return tokens;
}

Result<Glob> Glob::Parse(std::string_view text) {
  if (text.size() > kBytesMax) return Malformed("it is longer than an object's name");
  Glob glob;
  glob.literal_head_ = text.substr(0, text.find_first_of("*?[{\\"));
  TY_TRY(const auto alternatives, Expand(text));
  for (const std::string& alternative : alternatives) {
    TY_TRY(Tokens tokens, ParseOne(alternative));
    glob.alternatives_.push_back(std::move(tokens));
  }
  return glob;
}

/// Adds a state, and those reached from it by matching nothing.
void Glob::Enter(const Tokens& tokens, std::size_t state, std::vector<bool>& states) {
  states[state] = true;
  if (state == tokens.size() || tokens[state].kind == Token::Kind::kOne) return;
  if (tokens[state].kind == Token::Kind::kSkipTwo) Enter(tokens, state + 3, states);
  Enter(tokens, state + 1, states);
}

bool Glob::MatchesOne(const Tokens& tokens, const std::u32string& name) {
  std::vector<bool> states(tokens.size() + 1);
  Enter(tokens, 0, states);
  for (const char32_t point : name) {
    std::vector<bool> next(states.size());
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (!states[i]) continue;
      const Token& token = tokens[i];
      const bool listed = std::ranges::any_of(
          token.ranges, [point](const auto& range) { return range.first <= point && point <= range.second; });
      if (token.kind == Token::Kind::kOne && listed != token.negated) Enter(tokens, i + 1, next);
      if (token.kind == Token::Kind::kAny || (token.kind == Token::Kind::kStar && point != U'/'))
        Enter(tokens, i, next);
    }
    states = std::move(next);
  }
  return states.back();
}

bool Glob::Matches(std::string_view name) const {
  std::u32string points;
  while (!name.empty()) points += TakeCodePoint(name);
  return std::ranges::any_of(alternatives_, [&](const Tokens& tokens) { return MatchesOne(tokens, points); });
}

}  // namespace trainyard::storage
