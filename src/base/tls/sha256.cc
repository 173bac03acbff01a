#include "base/tls/sha256.h"

#include <openssl/evp.h>
#include <openssl/sha.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <vector>

#include "base/check.h"
#include "base/text/hex.h"

namespace trainyard::tls {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

class Sum {
 public:
  Sum() { TY_CHECK(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1); }
  void Add(std::string_view bytes) {
    TY_CHECK(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
  }
  std::string Hex() {
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    TY_CHECK(EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr) == 1);
    return text::Hex(digest.data(), digest.size());
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

}  // namespace

std::string Sha256Hex(std::string_view bytes) {
  Sum sum;
  sum.Add(bytes);
  return sum.Hex();
}

Result<std::string> Sha256HexOfFile(int descriptor) {
  Sum sum;
  std::vector<char> piece(kPieceBytes);
  off_t offset = 0;
  for (;;) {
    const ssize_t size = ::pread(descriptor, piece.data(), piece.size(), offset);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return std::unexpected(ErrnoError(errno, "read"));
    if (size == 0) return sum.Hex();
    sum.Add({piece.data(), static_cast<std::size_t>(size)});
    offset += size;
  }
}

}  // namespace trainyard::tls
