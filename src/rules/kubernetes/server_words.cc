#include "rules/kubernetes/server_words.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/wire/utf8.h"

namespace trainyard::kubernetes {

namespace {

constexpr std::size_t kBytesMax = 400;
constexpr std::string_view kRpc = "rpc error: code = ";
constexpr std::string_view kDescription = " desc = ";

std::string_view WithoutEnd(std::string_view text) {
  text = TrimSpace(text);
  while (text.ends_with('.') || text.ends_with(':') || text.ends_with(',')) text.remove_suffix(1);
  return TrimSpace(text);
}

}  // namespace

std::string ServerWords(std::string_view message) {
  std::string line(TrimSpace(message));
  for (std::size_t at = line.find(kRpc); at != std::string::npos; at = line.find(kRpc, at)) {
    const std::size_t end = line.find(kDescription, at);
    if (end == std::string::npos) break;
    line.erase(at, end + kDescription.size() - at);
  }
  std::ranges::replace_if(line, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  line = wire::VisibleText(line);
  const std::size_t bytes = wire::Utf8Prefix(line, kBytesMax);
  const bool is_cut = bytes < line.size();
  return std::string(WithoutEnd(std::string_view(line).substr(0, bytes))) + (is_cut ? " ..." : "");
}

}  // namespace trainyard::kubernetes
