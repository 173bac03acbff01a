#include "front/front_address.h"

#include <random>

#include "async/file.h"

namespace trainyard::front {

namespace {

constexpr int kTriesMax = 4;  // if all are taken, another program has the port on every address
constexpr std::size_t kAddressBytesMax = 64;

}  // namespace

std::string RandomFrontAddress() {
  std::random_device random;
  const auto byte = [&random](unsigned least, unsigned most) {
    return std::to_string(std::uniform_int_distribution<unsigned>(least, most)(random));
  };
  return "127." + byte(64, 127) + "." + byte(0, 255) + "." + byte(1, 254);
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
