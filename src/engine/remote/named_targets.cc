#include "engine/remote/named_targets.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/ascii.h"
#include "programs/image/reference.h"

namespace trainyard::engine {

namespace {

constexpr std::array<std::string_view, 8> kUrlSettings{
    "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS",     "UV_DEFAULT_INDEX",
    "UV_INDEX",      "UV_INDEX_URL",        "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS"};
constexpr std::string_view kHosts = "PIP_TRUSTED_HOST";
constexpr std::string_view kHttps = "https://";
constexpr std::string_view kHttp = "http://";

/// "HOST", "HOST:PORT", "USER@HOST", "[ADDRESS]:PORT".
void Add(std::string_view authority, std::string_view usual_port, NamedTargets& targets) {
  authority = authority.substr(0, authority.find_first_of("/?#"));
  authority.remove_prefix(authority.rfind('@') == std::string_view::npos ? 0 : authority.rfind('@') + 1);
  std::string target = ToLower(authority);
  if (target.empty()) return;
  const std::size_t end = target.starts_with('[') ? target.find(']') : 0;
  if (end == std::string::npos) return;
  if (target.find(':', end) == std::string::npos) target += ":" + std::string(usual_port);
  if (end > 0) target = target.substr(1, end - 1) + target.substr(end + 1);
  targets.insert(std::move(target));
}

template <class Use>
void ForEachWord(std::string_view text, const Use& use) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \t\r\n,"), text.size());
    if (end > 0) use(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void AddUrl(std::string_view word, NamedTargets& targets) {
  const std::size_t scheme = word.find("://");
  // uv's indexes may have names: "internal=https://..."
  if (const std::size_t name = word.find('='); name < scheme) word.remove_prefix(name + 1);
  if (word.starts_with(kHttps)) Add(word.substr(kHttps.size()), "443", targets);
  if (word.starts_with(kHttp)) Add(word.substr(kHttp.size()), "80", targets);
}

}  // namespace

NamedTargets FindNamedTargets(const std::map<std::string, std::optional<std::string>>& tool_variables,
                              const std::vector<std::pair<std::string, std::string>>& image_map) {
  NamedTargets targets{"pypi.org:443", "files.pythonhosted.org:443"};
  for (const auto& [name, value] : tool_variables) {
    if (!value) continue;
    if (std::ranges::find(kUrlSettings, name) != kUrlSettings.end())
      ForEachWord(*value, [&targets](std::string_view word) { AddUrl(word, targets); });
    if (name == kHosts) ForEachWord(*value, [&targets](std::string_view word) { Add(word, "443", targets); });
  }
  for (const auto& [pattern, reference] : image_map) {
    const auto parsed = image::ParseReference(reference);
    if (parsed && parsed->IsRegistry()) Add(parsed->Registry(), "443", targets);
  }
  return targets;
}

}  // namespace trainyard::engine
