#include "storage/random_id.h"

#include <sys/random.h>

#include <array>

#include "base/check.h"

namespace trainyard::storage {

std::string RandomId() {
  std::array<unsigned char, 16> bytes{};
  TY_CHECK(::getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string id;
  for (const unsigned char byte : bytes) {
    id += kDigits[byte >> 4U];
    id += kDigits[byte & 15U];
  }
  return id;
}

}  // namespace trainyard::storage
