#include "agent/digest.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <vector>

#include "async/file.h"
#include "base/check.h"
#include "text/hex.h"

namespace trainyard::agent {

namespace {

struct Free {
  void operator()(EVP_MD_CTX* context) const noexcept { ::EVP_MD_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_MD_CTX, Free>;

Context Begin() {
  Context context(::EVP_MD_CTX_new());
  TY_CHECK(context && ::EVP_DigestInit_ex(context.get(), ::EVP_sha256(), nullptr) == 1);
  return context;
}

std::string Finish(const Context& context) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  TY_CHECK(::EVP_DigestFinal_ex(context.get(), digest.data(), &size) == 1);
  return text::Hex(digest.data(), size);
}

}  // namespace

std::string Sha256(std::string_view bytes) {
  const Context context = Begin();
  TY_CHECK(::EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1);
  return Finish(context);
}

Result<std::string> Sha256OfFile(const std::string& path) {
  TY_TRY(const UniqueFd file, OpenFile(path, O_RDONLY));
  const Context context = Begin();
  std::vector<char> buffer(std::size_t{1} << 20);
  for (;;) {
    const ssize_t size = ::read(file.get(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return std::unexpected(ErrnoError(errno, "read " + path));
    if (size == 0) return Finish(context);
    TY_CHECK(::EVP_DigestUpdate(context.get(), buffer.data(), static_cast<std::size_t>(size)) == 1);
  }
}

}  // namespace trainyard::agent
