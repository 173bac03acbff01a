#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "programs/sandbox/cgroups/installation_group.h"
#include "trainyard/keeper/v1/keeper.pb.h"

/// Messages between a server and the keeper: proto/trainyard/keeper/v1/keeper.proto, docs/adr/0042. Any
/// thread. Packets with descriptors over a Unix socket that keeps packets apart (SOCK_SEQPACKET), for both
/// ends of the protocol. Source: unix(7), cmsg(3).
namespace trainyard::keeper {

struct Packet {
  std::string bytes;
  std::vector<UniqueFd> descriptors;  ///< closed on exec
};

/// Sends one packet with copies of the descriptors. kUnavailable: the other side has closed, or the socket
/// does not block and its queue is full; kResourceExhausted: it is longer than kMessageMax.
[[nodiscard]] Status SendPacket(int socket, std::string_view bytes, std::span<const int> descriptors = {});

/// Receives the next packet; waits for it on a blocking socket. kUnavailable: the other side has closed, or
/// there is no packet; kInvalidArgument: it is longer than kMessageMax or has more than kDescriptorsMax
/// descriptors, which are closed.
[[nodiscard]] Result<Packet> ReceivePacket(int socket);

/// Listens at that path; the returned socket does not block. An existing file is replaced: the caller has the
/// lock, so no other process listens there. Mode 0600.
[[nodiscard]] Result<UniqueFd> ListenForPackets(const std::filesystem::path& path);

/// Connects without waiting for the listener. kUnavailable: nothing listens there (now), or its queue is
/// full.
[[nodiscard]] Result<UniqueFd> ConnectForPackets(const std::filesystem::path& path);

using v1::Answer;
using v1::Hello;
using v1::HelloAnswer;
using v1::LimitsAnswer;
using v1::LimitsRequest;
using v1::Refused;
using v1::Request;
using v1::Started;
using v1::StartRequest;

inline constexpr std::size_t kMessageMax = std::size_t{128} << 10;
/// Limit for one packet.
inline constexpr std::size_t kDescriptorsMax = 8;
inline constexpr std::uint32_t kVersion = 1;

/// The first message of a client of this version.
[[nodiscard]] Hello Greeting();

[[nodiscard]] Request AsRequest(Hello hello);
[[nodiscard]] Request AsRequest(LimitsRequest limits);
[[nodiscard]] Request AsRequest(StartRequest start);

/// kInvalidArgument: the bytes are not such a message; kUnimplemented: this version does not know the
/// request.
[[nodiscard]] Result<Request> ParseRequest(std::string_view bytes);
[[nodiscard]] Result<Answer> ParseAnswer(std::string_view bytes);

[[nodiscard]] Answer Refusal(const Error& error);
[[nodiscard]] LimitsAnswer AsAnswer(const replica::LimitSupport& support, std::string_view advice);
[[nodiscard]] replica::LimitSupport SupportOf(const LimitsAnswer& answer);

/// Whether the name consists of letters, digits, '.', '_' and '-', at most 200, without a '.' at the
/// beginning.
[[nodiscard]] bool IsGroupName(std::string_view name);

/// A supervisor's options, and its attempt's directory.
inline constexpr int kArgumentsMax = 16;

/// The command to start for such a request, and the only programs that the keeper starts, for any client: the
/// keeper's own program as a supervisor, `trainyard replica
/// [--NAME=NUMBER]... /ATTEMPT`. Its variables are the keeper's own; of the request's, only those that set
/// where builds download from and the programs' language. kPermissionDenied: the request is for something
/// else.
///
/// @param program    the keeper's own path: absolute. If an upgrade has replaced it, the new one is started.
/// @param variables  the keeper's own, "NAME=value"
[[nodiscard]] Result<StartRequest> AsSupervisor(StartRequest request, const std::string& program,
                                                const std::vector<std::string>& variables);

}  // namespace trainyard::keeper
