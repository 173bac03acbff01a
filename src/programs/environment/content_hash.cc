#define OPENSSL_SUPPRESS_DEPRECATED  // the functions without a provider

#include "programs/environment/content_hash.h"

#include <fcntl.h>
#include <openssl/sha.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/async/file.h"
#include "base/text/hex.h"

namespace trainyard::environment {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{256} << 10;

bool IsSha256(std::string_view checksum) {
  return checksum.size() == std::size_t{2} * SHA256_DIGEST_LENGTH && text::IsLowerHex(checksum);
}

}  // namespace

ContentHash::ContentHash() : state_(std::make_unique<SHA256state_st>()) { SHA256_Init(state_.get()); }
ContentHash::ContentHash(ContentHash&&) noexcept = default;
ContentHash::~ContentHash() = default;

ContentHash& ContentHash::Add(std::string_view bytes) {
  SHA256_Update(state_.get(), bytes.data(), bytes.size());
  return *this;
}

ContentHash& ContentHash::AddPart(std::string_view part) {
  return Add(std::to_string(part.size()) + ":").Add(part);
}

std::string ContentHash::Hex() {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256_Final(digest.data(), state_.get());
  std::string hex;
  for (const unsigned char byte : digest) hex += text::HexNumber(byte, 2);
  return hex;
}

bool AreByContent(const std::vector<EnvironmentRequest::Package>& packages) {
  return std::ranges::all_of(packages, [](const auto& package) { return IsSha256(package.checksum); });
}

Status CheckContent(const EnvironmentRequest::Package& package, const std::string& file) {
  if (!IsSha256(package.checksum)) return {};
  TY_TRY(const UniqueFd opened, OpenFile(file, O_RDONLY));
  ContentHash hash;
  std::string piece(kPieceBytes, '\0');
  for (;;) {
    const ssize_t count = ::read(opened.get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::unexpected(ErrnoError(errno, "read " + file));
    if (count == 0) break;
    hash.Add(std::string_view(piece).substr(0, static_cast<std::size_t>(count)));
  }
  if (hash.Hex() == package.checksum) return {};
  return std::unexpected(FailedPrecondition("the package " + package.uri +
                                            " has changed since the job was created: submit the job again"));
}

}  // namespace trainyard::environment
