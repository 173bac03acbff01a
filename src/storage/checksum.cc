#include "storage/checksum.h"

#include <isa-l/crc.h>
#include <openssl/evp.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "storage/copy_file.h"
#include "text/base64.h"

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
  while (!bytes.empty()) {  // ISA-L counts in int and takes its input as not const
    const std::size_t length = std::min<std::size_t>(bytes.size(), std::numeric_limits<int>::max());
    auto* data = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
    crc32c_ = crc32_iscsi(data, static_cast<int>(length), crc32c_);
    bytes.remove_prefix(length);
  }
}

Digests Checksum::Get() const {
  const std::unique_ptr<EVP_MD_CTX, Free> copy(EVP_MD_CTX_new());
  unsigned char md5[EVP_MAX_MD_SIZE];
  unsigned int md5_length = 0;
  TY_CHECK(copy && EVP_MD_CTX_copy_ex(copy.get(), md5_.get()) == 1);
  TY_CHECK(EVP_DigestFinal_ex(copy.get(), md5, &md5_length) == 1);
  const std::uint32_t crc = ~crc32c_;
  const char big_endian[] = {static_cast<char>(crc >> 24U), static_cast<char>(crc >> 16U),
                             static_cast<char>(crc >> 8U), static_cast<char>(crc)};
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
