#include "net/sockets/port_owner.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/async/file.h"
#include "base/process/account_name.h"
#include "net/access/tcp_table.h"

namespace trainyard::sockets {

namespace {

constexpr std::size_t kTableBytesMax = std::size_t{64} << 20;
constexpr std::size_t kProgramMax = 60;
constexpr std::string_view kLock = "/run/lock";
constexpr std::string_view kListening = "0A";

template <class Number>
std::optional<Number> Parse(std::string_view text, int base = 10) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The last parts of the names in a directory; none if it cannot be read.
std::vector<std::string> Entries(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(path, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
    names.push_back(entry->path().filename());
  return names;
}

/// The process that has the socket; its data directory if it holds the lock of one.
void FindProcess(const std::string& socket, PortOwner& owner) {
  for (const std::string& name : Entries("/proc")) {
    const auto pid = Parse<pid_t>(name);
    if (!pid) continue;
    const std::string folder = "/proc/" + name + "/fd";
    std::string data_dir;
    bool has_socket = false;
    for (const std::string& number : Entries(folder)) {
      std::error_code gone;
      const std::string link = std::filesystem::read_symlink(folder + "/" + number, gone);
      has_socket = has_socket || link == socket;
      if (link.ends_with(kLock)) data_dir = link.substr(0, link.size() - kLock.size());
    }
    if (!has_socket) continue;
    owner.pid = *pid;
    owner.program = ReadFile("/proc/" + name + "/cmdline").value_or("");
    std::ranges::replace_if(owner.program, [](unsigned char c) { return c < ' ' || c == 0x7F; }, ' ');
    owner.program = owner.program.substr(0, std::min(owner.program.find_last_not_of(' ') + 1, kProgramMax));
    if (owner.program.find("trainyard") != std::string::npos) owner.data_dir = data_dir;
    return;
  }
}

/// An address in network order, as the kernel prints it: words of 32 bits in the machine's order.
template <class Address>
std::string HexWords(const Address& address) {
  std::string text;
  for (const std::uint32_t word : std::bit_cast<std::array<std::uint32_t, sizeof(Address) / 4>>(address)) {
    std::array<char, 9> digits{};
    std::snprintf(digits.data(), digits.size(), "%08X", word);
    text += digits.data();
  }
  return text;
}

std::string NameOf(std::uint32_t uid) {
  std::string name = AccountName(uid);
  return name.empty() ? std::to_string(uid) : name;
}

}  // namespace

std::optional<std::vector<std::string>> AddressesInTheWay(const std::string& host) {
  if (host == "0.0.0.0" || host == "::") return std::nullopt;
  in_addr v4{};
  in6_addr v6{};
  if (::inet_pton(AF_INET, host.c_str(), &v4) == 1) {
    ::inet_pton(AF_INET6, ("::ffff:" + host).c_str(), &v6);
    return std::vector{HexWords(v4), HexWords(in_addr{.s_addr = INADDR_ANY}), HexWords(v6),
                       HexWords(in6addr_any)};
  }
  if (::inet_pton(AF_INET6, host.c_str(), &v6) == 1) return std::vector{HexWords(v6), HexWords(in6addr_any)};
  return std::vector<std::string>();
}

std::optional<ListeningEntry> FindListening(std::string_view table,
                                            const std::optional<std::vector<std::string>>& addresses,
                                            std::uint16_t port) {
  while (const auto entry = access::TakeTcpTableEntry(table)) {
    const std::size_t colon = entry->local.rfind(':');
    if (entry->state != kListening || Parse<std::uint16_t>(entry->local.substr(colon + 1), 16) != port)
      continue;
    if (addresses && std::ranges::find(*addresses, entry->local.substr(0, colon)) == addresses->end())
      continue;
    return ListeningEntry{entry->uid, entry->inode};
  }
  return std::nullopt;
}

std::optional<PortOwner> FindPortOwner(const std::string& host, std::uint16_t port) {
  const auto addresses = AddressesInTheWay(host == "localhost" ? "127.0.0.1" : host);
  for (const char* file : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    const auto entry = FindListening(ReadFile(file, kTableBytesMax).value_or(""), addresses, port);
    if (!entry) continue;
    PortOwner owner{.user = NameOf(entry->uid)};
    FindProcess("socket:[" + std::to_string(entry->inode) + "]", owner);
    return owner;
  }
  return std::nullopt;
}

Error PortInUse(const std::string& place, const std::optional<PortOwner>& owner,
                const std::string& data_dir) {
  std::string text = place + " is in use";
  const std::string other_port =
      "trainyard serve --listen 127.0.0.1:0 --data " + data_dir + " (0: any free port)";
  if (owner && !owner->data_dir.empty()) {
    text += " by the Trainyard server of the data directory " + owner->data_dir + " (process " +
            std::to_string(owner->pid) + ", user " + owner->user + "). To use it: eval \"$(trainyard env " +
            "--data " + owner->data_dir + ")\". To run a second server: ";
  } else if (owner && owner->pid != 0) {
    text += " by [" + owner->program + "] (process " + std::to_string(owner->pid) + ", user " + owner->user +
            "). Choose another port: ";
  } else if (owner) {
    text += " by a program of the user " + owner->user + ". Choose another port: ";
  } else {
    text += ". Choose another port: ";
  }
  return {Code::kAlreadyExists, text + other_port, ""};
}

}  // namespace trainyard::sockets
