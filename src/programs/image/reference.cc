#include "programs/image/reference.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "base/async/file.h"
#include "base/check.h"
#include "base/text/hex.h"
#include "base/wire/host_name.h"
#include "rules/jobs/images.h"

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

void Digester::Free::operator()(evp_md_ctx_st* context) const noexcept { ::EVP_MD_CTX_free(context); }

Digester::Digester() : context_(::EVP_MD_CTX_new()) {
  TY_CHECK(context_ != nullptr && ::EVP_DigestInit_ex(context_.get(), ::EVP_sha256(), nullptr) == 1);
}

void Digester::Add(std::string_view bytes) {
  TY_CHECK(::EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
}

std::string Digester::Finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  TY_CHECK(::EVP_DigestFinal_ex(context_.get(), digest.data(), &size) == 1);
  return "sha256:" + text::Hex(digest.data(), size);
}

std::string Sha256(std::string_view bytes) {
  Digester digester;
  digester.Add(bytes);
  return digester.Finish();
}

Result<std::string> Sha256OfFile(const std::string& path) {
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  TY_TRY(const UniqueFd file, OpenFile(path, O_RDONLY));
  Digester digester;
  std::vector<char> buffer(kBlock);
  while (true) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::unexpected(ErrnoError(errno, "read " + path));
    if (count == 0) return digester.Finish();
    digester.Add({buffer.data(), static_cast<std::size_t>(count)});
  }
}

}  // namespace trainyard::image
