#include "rules/kubernetes/server_words.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/wire/utf8.h"

namespace trainyard::kubernetes {

namespace {

constexpr std::size_t kBytesMax = 400;
constexpr std::size_t kBeginBytes = 140;  ///< of a longer message
constexpr std::size_t kEndBytes = 250;
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
  const std::string_view all = line;
  if (all.size() <= kBytesMax) return std::string(WithoutEnd(all));
  // The cause is at the end. Before it are names of images, with digests, again and again.
  const std::string_view begin = all.substr(0, wire::Utf8Prefix(all, kBeginBytes));
  std::size_t cut = all.find(' ', all.size() - kEndBytes);
  if (cut == std::string_view::npos) cut = all.size() - kEndBytes;
  while ((static_cast<unsigned char>(all[cut]) & 0xC0U) == 0x80U) ++cut;  // inside of a character
  const std::string_view end = all.substr(cut);
  return std::string(WithoutEnd(begin)) + " ... " + std::string(WithoutEnd(end));
}

}  // namespace trainyard::kubernetes
