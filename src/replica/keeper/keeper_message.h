#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "programs/sandbox/cgroups/installation_group.h"

/// What a server and the keeper say to each other. Kept for ever: a server of any version may meet a keeper
/// of any other, because jobs, and so the keeper, live on when the server is upgraded. docs/adr/0042.
///
/// A message is one packet of a Unix socket that keeps packets apart (SOCK_SEQPACKET), at most kMessageMax
/// bytes long. Numbers are little-endian. A text is its length (u32) and its bytes, a list its length (u32)
/// and its items. A message is its type (u16) and then the fields of its struct, in order and without gaps.
/// Readers ignore what follows the fields that they know: what a later version adds goes to the end.
///
/// The client speaks first, with Hello; anything else closes the connection. Then each request is answered by
/// one message, in order. Descriptors travel beside a packet (SCM_RIGHTS). Pure: any thread.
namespace trainyard::keeper {

inline constexpr std::size_t kMessageMax = std::size_t{128} << 10;
/// Beside one packet.
inline constexpr std::size_t kDescriptorsMax = 8;
inline constexpr std::uint16_t kVersion = 1;
/// What a Hello begins with: "TYKP".
inline constexpr std::uint32_t kMagic = 0x504B'5954;

/// Type 1: u32 magic, u16 version_min, u16 version_max: what the client speaks.
struct Hello {
  std::uint16_t version_min = kVersion;
  std::uint16_t version_max = kVersion;
  friend bool operator==(const Hello&, const Hello&) = default;
};

/// Type 2: text installation. What replicas of that installation (programs/attempt/attempt_dir.h,
/// InstallationName) can be bounded by. Makes the installation's group.
struct LimitsRequest {
  std::string installation;
  friend bool operator==(const LimitsRequest&, const LimitsRequest&) = default;
};

/// Type 3: text name, text program, list of texts arguments, list of texts environment, list of u8 numbers.
/// Starts a program in a session and, where the keeper has groups, in a group of its own. With as many
/// descriptors as there are numbers: which one the program has each under.
struct StartRequest {
  std::string name;                    ///< its group's; one at a time: IsGroupName()
  std::string program;                 ///< absolute path
  std::vector<std::string> arguments;  ///< from argv[0] on
  std::vector<std::string> environment;
  std::vector<std::uint8_t> numbers;
  friend bool operator==(const StartRequest&, const StartRequest&) = default;
};

/// Type 129: u16 version, u64 instance.
struct HelloAnswer {
  std::uint16_t version = kVersion;  ///< that is spoken from now on: the highest that both know
  std::uint64_t instance = 0;        ///< another one for each keeper that was ever started
  friend bool operator==(const HelloAnswer&, const HelloAnswer&) = default;
};

/// Type 130: u8 version of cgroups, text group, list of missing (text what, u8 absent, text why), text
/// advice.
struct LimitsAnswer {
  replica::LimitSupport support;
  std::string advice;  ///< a sentence without its full stop: what helps; empty: nothing is known to
  friend bool operator==(const LimitsAnswer&, const LimitsAnswer&) = default;
};

/// Type 131: u32 pid. With one descriptor: its pidfd.
struct Started {
  std::uint32_t pid = 0;  ///< as the keeper sees it
  friend bool operator==(const Started&, const Started&) = default;
};

/// Type 255: u32 code (base/error.h), text message. Nothing was started.
struct Refused {
  std::uint32_t code = 0;
  std::string message;
  friend bool operator==(const Refused&, const Refused&) = default;
};

using Request = std::variant<Hello, LimitsRequest, StartRequest>;
using Answer = std::variant<HelloAnswer, LimitsAnswer, Started, Refused>;

[[nodiscard]] std::string PrintRequest(const Request& request);
[[nodiscard]] std::string PrintAnswer(const Answer& answer);

/// kInvalidArgument: not such a message; kUnimplemented: a type that this version does not know.
[[nodiscard]] Result<Request> ParseRequest(std::string_view bytes);
[[nodiscard]] Result<Answer> ParseAnswer(std::string_view bytes);

/// Letters, digits, '.', '_' and '-', at most 200, and no '.' at the beginning.
[[nodiscard]] bool IsGroupName(std::string_view name);

}  // namespace trainyard::keeper
