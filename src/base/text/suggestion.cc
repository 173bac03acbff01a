#include "base/text/suggestion.h"

#include <algorithm>

#include "base/ascii.h"

namespace trainyard::text {
namespace {

constexpr double kLikenessMin = 0.6;

struct Block {
  std::size_t a = 0;
  std::size_t b = 0;
  std::size_t size = 0;
};

/// The longest common substring; if there are several, the first in a, then in b.
Block LongestMatch(std::string_view a, std::string_view b) {
  Block best;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) {
      std::size_t size = 0;
      while (i + size < a.size() && j + size < b.size() && a[i + size] == b[j + size]) ++size;
      if (size > best.size) best = {i, j, size};
    }
  }
  return best;
}

std::size_t MatchingCharacters(std::string_view a, std::string_view b) {
  Block block = LongestMatch(a, b);
  if (block.size == 0) return 0;
  return block.size + MatchingCharacters(a.substr(0, block.a), b.substr(0, block.b)) +
         MatchingCharacters(a.substr(block.a + block.size), b.substr(block.b + block.size));
}

}  // namespace

double Likeness(std::string_view a, std::string_view b) {
  if (a.empty() && b.empty()) return 1;
  return 2.0 * static_cast<double>(MatchingCharacters(a, b)) / static_cast<double>(a.size() + b.size());
}

std::string_view Suggest(std::string_view word, std::span<const std::string_view> choices) {
  if (word.size() > kSuggestBytesMax) return {};
  const std::string lower = ToLower(word);
  std::string_view best;
  double best_likeness = 0;
  for (std::string_view choice : choices) {
    double likeness = Likeness(ToLower(choice), lower);
    if (likeness < kLikenessMin || likeness < best_likeness) continue;
    if (likeness == best_likeness && choice < best) continue;
    best = choice;
    best_likeness = likeness;
  }
  return best;
}

std::string DidYouMean(std::string_view word, std::span<const std::string_view> choices) {
  if (std::ranges::find(choices, word) != choices.end()) return {};
  const std::string_view meant = Suggest(word, choices);
  return meant.empty() ? "" : "Did you mean '" + std::string(meant) + "'?";
}

}  // namespace trainyard::text
