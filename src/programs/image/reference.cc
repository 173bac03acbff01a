#include "programs/image/reference.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/text/hex.h"
#include "base/wire/host_name.h"
#include "rules/jobs/image_reference.h"

namespace trainyard::image {

namespace {

constexpr std::string_view kDockerHub = "docker.io";
constexpr std::size_t kHexDigits = 64;
constexpr std::array<std::string_view, 3> kPathTransports{"oci", "oci-archive", "docker-archive"};
constexpr std::array<std::string_view, 2> kStoreTransports{"docker-daemon", "containers-storage"};

/// Removes "@sha256:..." from the end and returns it.
std::string TakeDigest(std::string_view& text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos || !IsSha256(text.substr(at + 1))) return {};
  std::string digest(text.substr(at + 1));
  text = text.substr(0, at);
  return digest;
}

/// Removes ":TAG" from the end and returns it, if there is one after the last slash.
std::string TakeTag(std::string_view& text) {
  const std::size_t slash = text.rfind('/');
  const std::size_t colon = text.find(':', slash == std::string_view::npos ? 0 : slash);
  if (colon == std::string_view::npos) return {};
  std::string tag(text.substr(colon + 1));
  text = text.substr(0, colon);
  return tag;
}

Reference ReadName(std::string transport, std::string_view text) {
  Reference reference{.transport = std::move(transport), .name = {}, .tag = {}, .digest = TakeDigest(text)};
  reference.tag = TakeTag(text);
  if (reference.tag.empty() && reference.digest.empty()) reference.tag = "latest";
  reference.name = text;
  if (!reference.IsRegistry()) return reference;
  if (!reference.digest.empty()) reference.tag.clear();  // the digest wins
  const std::string_view first = text.substr(0, text.find('/'));
  const bool has_registry = first.size() != text.size() &&
                            (first == "localhost" || first.find_first_of(".:") != std::string_view::npos ||
                             std::ranges::any_of(first, [](char c) { return 'A' <= c && c <= 'Z'; }));
  if (has_registry && first == "index.docker.io")
    reference.name = std::string(kDockerHub) + reference.name.substr(first.size());
  if (!has_registry) reference.name = std::string(kDockerHub) + "/" + reference.name;
  if (reference.Registry() != kDockerHub) return reference;
  const std::string path = reference.name.substr(kDockerHub.size() + 1);
  if (path.find('/') == std::string::npos) reference.name = std::string(kDockerHub) + "/library/" + path;
  return reference;
}

Reference ReadPath(std::string transport, std::string_view text) {
  Reference reference{.transport = std::move(transport), .name = {}, .tag = {}, .digest = TakeDigest(text)};
  // The name inside may be a whole reference with slashes and colons: the first colon ends the path.
  const std::size_t colon = text.find(':');
  reference.name = text.substr(0, colon);
  if (colon != std::string_view::npos) reference.tag = text.substr(colon + 1);
  return reference;
}

}  // namespace

std::string Reference::Registry() const {
  return IsRegistry() ? name.substr(0, name.find('/')) : std::string();
}

std::string Reference::Print() const {
  std::string text = IsRegistry() ? name : transport + ":" + name;
  if (!tag.empty() && (!IsRegistry() || digest.empty())) text += ":" + tag;
  if (!digest.empty()) text += "@" + digest;
  return text;
}

std::string Reference::ForSkopeo() const {
  if (IsRegistry()) return "docker://" + Print();
  return transport + ":" + name + (tag.empty() ? "" : ":" + tag);
}

Result<Reference> ParseReference(std::string_view text) {
  if (text.starts_with("docker://")) text.remove_prefix(9);
  std::string_view bare = text;
  TakeDigest(bare);
  for (const std::string_view transport : kPathTransports)
    if (text.starts_with(std::string(transport) + ":/")) {
      TY_RETURN_IF_ERROR(jobs::CheckImageReference(bare));
      return ReadPath(std::string(transport), text.substr(transport.size() + 1));
    }
  TY_RETURN_IF_ERROR(jobs::CheckImageReference(text));
  for (const std::string_view transport : kStoreTransports)
    if (text.starts_with(std::string(transport) + ":"))
      return ReadName(std::string(transport), text.substr(transport.size() + 1));
  return ReadName("docker", text);
}

bool IsLoopbackRegistry(std::string_view registry) {
  const std::optional<std::string> host = wire::HostNameOf(registry);
  return host && wire::IsLoopbackName(*host);
}

bool IsSha256(std::string_view digest) {
  constexpr std::string_view kPrefix = "sha256:";
  if (!digest.starts_with(kPrefix) || digest.size() != kPrefix.size() + kHexDigits) return false;
  return text::IsLowerHex(digest.substr(kPrefix.size()));
}

}  // namespace trainyard::image
