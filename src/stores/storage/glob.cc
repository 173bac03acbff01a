#include "stores/storage/glob.h"

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

/// A code point, or one escaped by a backslash.
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

constexpr std::size_t kWordBits = 64;

void Set(std::vector<std::uint64_t>& states, std::size_t state) {
  states[state / kWordBits] |= std::uint64_t{1} << (state % kWordBits);
}

/// Word `i` of those states that `which` has, moved on by `distance`, which is less than a word.
std::uint64_t MovedOn(const std::vector<std::uint64_t>& states, const std::vector<std::uint64_t>& which,
                      std::size_t i, unsigned distance) {
  const std::uint64_t carried = i == 0 ? 0 : (states[i - 1] & which[i - 1]) >> (kWordBits - distance);
  return (states[i] & which[i]) << distance | carried;
}

}  // namespace

Result<Glob::Tokens> Glob::ParseOne(std::string_view text) {
  Tokens tokens;
  bool segment_begins = true;
  while (!text.empty()) {
    const bool was_beginning = std::exchange(segment_begins, text.front() == '/');
    if (text.starts_with("**")) {
      text.remove_prefix(std::min(text.find_first_not_of('*'), text.size()));
      if (was_beginning && text.starts_with('/')) {
        // Two in a row mean the same as one.
        if (tokens.size() >= 3 && tokens[tokens.size() - 3].kind == Token::Kind::kSkipTwo) {
          text.remove_prefix(1);
          segment_begins = true;
          continue;
        }
        tokens.push_back({.kind = Token::Kind::kSkipTwo});
      }
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
  TY_TRY(const auto texts, Expand(text));
  std::vector<Tokens> alternatives;
  std::size_t states = 0;
  for (const std::string& one : texts) {
    TY_TRY(Tokens tokens, ParseOne(one));
    states += tokens.size() + 1;
    if (states > kStatesMax)
      return Malformed("its alternatives have more than " + std::to_string(kStatesMax) +
                       " characters together; ask for some of them at a time");
    alternatives.push_back(std::move(tokens));
  }
  const std::size_t words = (states + kWordBits - 1) / kWordBits;
  for (States* all : {&glob.initial_, &glob.final_, &glob.stars_, &glob.anys_, &glob.skips_})
    all->resize(words);
  glob.AddClasses(alternatives);
  glob.AddStates(alternatives);
  return glob;
}

void Glob::AddClasses(const std::vector<Tokens>& alternatives) {
  class_starts_ = {0, U'/', U'/' + 1};
  for (const Tokens& tokens : alternatives) {
    for (const Token& token : tokens) {
      for (const auto& [first, last] : token.ranges) {
        class_starts_.push_back(first);
        class_starts_.push_back(last + 1);
      }
    }
  }
  std::ranges::sort(class_starts_);
  class_starts_.erase(std::ranges::unique(class_starts_).begin(), class_starts_.end());
  accepting_.assign(class_starts_.size(), States(initial_.size()));
}

void Glob::AddStates(const std::vector<Tokens>& alternatives) {
  std::size_t state = 0;
  for (const Tokens& tokens : alternatives) {
    Set(initial_, state);
    for (const Token& token : tokens) {
      switch (token.kind) {
        case Token::Kind::kOne: Accept(token, state); break;
        case Token::Kind::kStar: Set(stars_, state); break;
        case Token::Kind::kAny: Set(anys_, state); break;
        case Token::Kind::kSkipTwo: Set(skips_, state); break;
      }
      ++state;
    }
    Set(final_, state++);
  }
  EnterSkipped(initial_);
}

void Glob::Accept(const Token& token, std::size_t state) {
  std::vector<bool> listed(accepting_.size());
  for (const auto& [first, last] : token.ranges) {
    if (first > last) continue;  // "[z-a]" is nothing
    for (std::size_t i = ClassOf(first); i < listed.size() && class_starts_[i] <= last; ++i) listed[i] = true;
  }
  for (std::size_t i = 0; i < listed.size(); ++i) {
    if (listed[i] != token.negated) Set(accepting_[i], state);
  }
}

std::size_t Glob::ClassOf(char32_t point) const {
  const auto after = std::ranges::upper_bound(class_starts_, point);
  return static_cast<std::size_t>(after - class_starts_.begin()) - 1;
}

/// Adds the states reached by matching nothing. After a star comes no star and no skip, and after a skip no
/// other (ParseOne merges them), so one pass finds all.
void Glob::EnterSkipped(States& states) const {
  // From the last word down: a word is made of itself and the one before, as they were.
  for (std::size_t i = states.size(); i-- > 0;)
    states[i] |= MovedOn(states, skips_, i, 1) | MovedOn(states, skips_, i, 3);
  for (std::size_t i = states.size(); i-- > 0;)
    states[i] |= MovedOn(states, stars_, i, 1) | MovedOn(states, anys_, i, 1);
}

bool Glob::Matches(std::string_view name) const {
  States states = initial_;
  while (!name.empty()) {
    const char32_t point = TakeCodePoint(name);
    const States& accepting = accepting_[ClassOf(point)];
    std::uint64_t alive = 0;
    for (std::size_t i = states.size(); i-- > 0;) {
      const std::uint64_t stays = states[i] & (point == U'/' ? anys_[i] : anys_[i] | stars_[i]);
      states[i] = stays | MovedOn(states, accepting, i, 1);
      alive |= states[i];
    }
    if (alive == 0) return false;
    EnterSkipped(states);
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    if ((states[i] & final_[i]) != 0) return true;
  }
  return false;
}

}  // namespace trainyard::storage
