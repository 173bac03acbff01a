#include "net/access/tcp_table.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>

#include "base/ascii.h"
#include "base/async/file.h"
#include "base/number.h"
#include "base/text/hex.h"

namespace trainyard::access {

namespace {

using http::Peer;
using http::PeerAddress;

constexpr std::size_t kWordBytes = 4;
constexpr std::string_view kListening = "0A";

/// "0100007f:2116": each word of the address as a number in the machine's own order, then the port. The
/// kernel prints it in upper case.
std::string Printed(const PeerAddress& address, std::size_t bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes; at += kWordBytes) {
    std::uint32_t word = 0;
    std::memcpy(&word, address.bytes.data() + at, kWordBytes);
    text += text::HexNumber(word, 8);
  }
  return text + ":" + text::HexNumber(address.port, 4);
}

/// Removes and returns the next word of a line.
std::string_view TakeWord(std::string_view& line) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  line.remove_prefix(begin);
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

/// An IPv4 address as an IPv6 socket shows it: a client may use IPv4 through such a socket.
PeerAddress Mapped(const PeerAddress& address) {
  PeerAddress mapped{.bytes = {}, .port = address.port};
  mapped.bytes[10] = mapped.bytes[11] = 0xff;
  std::copy_n(address.bytes.begin(), kWordBytes, mapped.bytes.begin() + 12);
  return mapped;
}

std::optional<OwnedSocket> Find(std::string_view text, const PeerAddress& local, const PeerAddress& remote,
                                std::size_t bytes) {
  const std::string of_local = Printed(local, bytes);
  const std::string of_remote = Printed(remote, bytes);
  while (const std::optional<TcpTableEntry> entry = TakeTcpTableEntry(text)) {
    if (entry->state != kListening && entry->inode != 0 && EqualsIgnoringCase(entry->local, of_local) &&
        EqualsIgnoringCase(entry->remote, of_remote))
      return OwnedSocket{.uid = entry->uid, .number = entry->inode};
  }
  return std::nullopt;
}

}  // namespace

std::optional<TcpTableEntry> TakeTcpTableEntry(std::string_view& table) {
  while (!table.empty()) {
    std::string_view line = table.substr(0, table.find('\n'));
    table.remove_prefix(std::min(line.size() + 1, table.size()));
    TakeWord(line);  // number
    TcpTableEntry entry{.local = TakeWord(line), .remote = TakeWord(line), .state = TakeWord(line)};
    for (int skipped = 0; skipped < 3; ++skipped) TakeWord(line);  // queues, timer, retransmits
    const auto uid = WholeNumber<std::uint32_t>(TakeWord(line));
    TakeWord(line);  // timeout
    const auto inode = WholeNumber<std::uint32_t>(TakeWord(line));
    if (!uid || !inode) continue;
    entry.uid = *uid;
    entry.inode = *inode;
    return entry;
  }
  return std::nullopt;
}

std::optional<OwnedSocket> FindInTable(std::string_view text, const Peer& peer) {
  constexpr std::size_t kV6Bytes = 16;
  if (peer.kind != Peer::Kind::kTcp4) return Find(text, peer.remote, peer.local, kV6Bytes);
  if (const auto found = Find(text, peer.remote, peer.local, kWordBytes)) return found;
  return Find(text, Mapped(peer.remote), Mapped(peer.local), kV6Bytes);
}

Result<std::optional<OwnedSocket>> FindInProc(const Peer& peer) {
  constexpr std::array<const char*, 2> kTables = {"/proc/net/tcp", "/proc/net/tcp6"};
  for (const char* table : kTables) {
    const Result<std::string> text = ReadFile(table);
    if (!text && text.error().code == Code::kNotFound) continue;
    if (!text) return std::unexpected(text.error());
    if (const auto found = FindInTable(*text, peer)) return found;
  }
  return std::nullopt;
}

}  // namespace trainyard::access
