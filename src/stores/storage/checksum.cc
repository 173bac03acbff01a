#include "stores/storage/checksum.h"

#include <openssl/evp.h>

#include "base/check.h"
#include "base/crc32c.h"
#include "base/text/base64.h"
#include "stores/storage/folder.h"

namespace trainyard::storage {
namespace {

const EVP_MD* Md5() {
  static EVP_MD* const md5 =
      EVP_MD_fetch(nullptr, "MD5", nullptr);  // fetched once: a fetch costs more than a small object
  TY_CHECK(md5 != nullptr);
  return md5;
}

}  // namespace

void Checksum::Free::operator()(EVP_MD_CTX* context) const noexcept { EVP_MD_CTX_free(context); }

Checksum::Checksum() : md5_(EVP_MD_CTX_new()) {
  TY_CHECK(md5_ && EVP_DigestInit_ex(md5_.get(), Md5(), nullptr) == 1);
}

void Checksum::Update(std::string_view bytes) {
  TY_CHECK(EVP_DigestUpdate(md5_.get(), bytes.data(), bytes.size()) == 1);
  crc32c_ = Crc32c(bytes, crc32c_);
}

Digests Checksum::Get() const {
  const std::unique_ptr<EVP_MD_CTX, Free> copy(EVP_MD_CTX_new());
  unsigned char md5[EVP_MAX_MD_SIZE];
  unsigned int md5_length = 0;
  TY_CHECK(copy && EVP_MD_CTX_copy_ex(copy.get(), md5_.get()) == 1);
  TY_CHECK(EVP_DigestFinal_ex(copy.get(), md5, &md5_length) == 1);
  const char big_endian[] = {static_cast<char>(crc32c_ >> 24U), static_cast<char>(crc32c_ >> 16U),
                             static_cast<char>(crc32c_ >> 8U), static_cast<char>(crc32c_)};
  return {.md5_hash = text::Base64({reinterpret_cast<const char*>(md5), md5_length}),
          .crc32c = text::Base64({big_endian, sizeof big_endian})};
}

Status AddFile(Checksum& checksum, int descriptor, std::uint64_t offset, std::uint64_t length) {
  const auto add = [&checksum](std::string_view piece) -> Status {
    checksum.Update(piece);
    return {};
  };
  return ReadPieces(descriptor, offset, length, add);
}

}  // namespace trainyard::storage
