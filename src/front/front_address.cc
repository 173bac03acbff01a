#include "front/front_address.h"

#include <array>
#include <cstdint>

#include "async/file.h"
#include "async/random_bytes.h"

namespace trainyard::front {

namespace {

constexpr int kTriesMax = 4;  // if all are taken, another program has the port on every address
constexpr std::size_t kAddressBytesMax = 64;

}  // namespace

std::string RandomFrontAddress() {
  const auto bytes = RandomBytes<std::array<std::uint8_t, 3>>();
  return "127." + std::to_string(64 + bytes[0] % 64) + "." + std::to_string(bytes[1]) + "." +
         std::to_string(1 + bytes[2] % 254);
}

Result<std::string> TakeFrontAddress(const std::filesystem::path& file,
                                     const std::function<Status(const std::string& address)>& listen) {
  const Result<std::string> kept = ReadFile(file, kAddressBytesMax);
  std::string address = kept && kept->starts_with("127.") ? *kept : RandomFrontAddress();
  for (int tries = 1;; ++tries) {
    Status listening = listen(address);
    if (listening) break;
    if (listening.error().code != Code::kAlreadyExists || tries == kTriesMax)
      return std::unexpected(std::move(listening).error());
    address = RandomFrontAddress();
  }
  if (!kept || *kept != address) TY_RETURN_IF_ERROR(WriteFileAtomically(file, address));
  return address;
}

}  // namespace trainyard::front
