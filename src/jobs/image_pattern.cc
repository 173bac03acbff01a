#include "jobs/image_pattern.h"

#include <cstddef>

namespace trainyard::jobs {
namespace {

/// The classic walk with one place to go back to: linear in practice, at worst the product of the lengths.
bool Matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t taken = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

/// Without ":TAG" and "@DIGEST"; a port stays: its colon has a slash behind it.
std::string_view Name(std::string_view image) {
  image = image.substr(0, image.find('@'));
  const std::size_t colon = image.rfind(':');
  const bool is_tag = colon != std::string_view::npos && image.find('/', colon) == std::string_view::npos;
  return is_tag ? image.substr(0, colon) : image;
}

}  // namespace

bool MatchesImage(std::string_view pattern, std::string_view image) {
  return Matches(pattern, Name(pattern) == pattern ? Name(image) : image);
}

}  // namespace trainyard::jobs
