#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

typedef struct evp_md_ctx_st EVP_MD_CTX;

namespace trainyard::storage {

/// An object's checksums in the API's form: base64 of the 16 bytes, base64 of the big-endian 32-bit value.
struct Digests {
  std::string md5_hash;
  std::string crc32c;
  friend bool operator==(const Digests&, const Digests&) = default;
};

/// MD5 and CRC32C of a growing sequence of bytes. One thread at a time. About 1.3 ms for 1 MiB: not on the
/// loop.
class Checksum {
 public:
  Checksum();
  Checksum(Checksum&&) noexcept = default;
  Checksum& operator=(Checksum&&) noexcept = default;

  void Update(std::string_view bytes);
  /// The checksums of the bytes so far; more may follow.
  [[nodiscard]] Digests Get() const;

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const noexcept;
  };
  std::unique_ptr<EVP_MD_CTX, Free> md5_;
  std::uint32_t crc32c_ = 0;
};

/// Adds `length` bytes of an open file from `offset` on. Blocks. kAborted: the file is shorter.
[[nodiscard]] Status AddFile(Checksum& checksum, int descriptor, std::uint64_t offset, std::uint64_t length);

}  // namespace trainyard::storage
