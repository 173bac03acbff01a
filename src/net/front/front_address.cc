#include "net/front/front_address.h"

#include <charconv>
#include <cstdint>
#include <system_error>

#include "base/async/file.h"
#include "base/async/random_bytes.h"

namespace trainyard::front {

namespace {

constexpr int kTriesMax = 4;  // if all are taken, another program has the port on every address
constexpr std::size_t kAddressBytesMax = 64;

constexpr unsigned kPortFirst = 10'000;
constexpr unsigned kPortLast = 29'999;

unsigned Random(unsigned least, unsigned most) {
  return least + RandomBytes<std::uint32_t>() % (most - least + 1);
}

}  // namespace

std::string RandomFrontAddress() {
  const auto byte = [](unsigned least, unsigned most) { return std::to_string(Random(least, most)); };
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
  if (!kept || *kept != address) TY_RETURN_IF_ERROR(ReplaceFile(file, address));
  return address;
}

FrontPorts RandomFrontPorts() {
  // Adjacent ports, so that they always differ.
  const unsigned tls = Random(kPortFirst, kPortLast - 1);
  return {.tls = static_cast<std::uint16_t>(tls), .plain = static_cast<std::uint16_t>(tls + 1)};
}

Result<FrontPorts> TakeFrontPorts(const std::filesystem::path& file) {
  FrontPorts ports;
  if (const auto kept = ReadFile(file, kAddressBytesMax)) {
    const char* end = kept->data() + kept->size();
    const auto [after, wrong] = std::from_chars(kept->data(), end, ports.tls);
    if (wrong == std::errc() && after != end &&
        std::from_chars(after + 1, end, ports.plain).ec == std::errc() && ports.tls != 0 && ports.plain != 0)
      return ports;
  }
  ports = RandomFrontPorts();
  TY_RETURN_IF_ERROR(KeepFrontPorts(file, ports));
  return ports;
}

Status KeepFrontPorts(const std::filesystem::path& file, const FrontPorts& ports) {
  return ReplaceFile(file, std::to_string(ports.tls) + " " + std::to_string(ports.plain));
}

}  // namespace trainyard::front
