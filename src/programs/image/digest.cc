#include "programs/image/digest.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

#include "base/async/file.h"
#include "base/check.h"
#include "base/text/hex.h"

namespace trainyard::image {

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
