#pragma once

#include <cstddef>
#include <cstdint>

/// The messages between pod_container.cc and pod_starter.cc, over a Unix stream socket. Both are on one
/// machine and of one version: numbers are in the machine's byte order. A connection is one session: a
/// request, then signals to the starter and events to its peer.
namespace trainyard::replica::pod {

/// The most bytes of strings in a request.
inline constexpr std::uint32_t kStringsMax = std::uint32_t{4} << 20;
/// The most connections at once.
inline constexpr std::size_t kSessionsMax = 64;
/// Standard input, output and error.
inline constexpr std::size_t kDescriptors = 3;
/// The most bytes of a program's file that follow kFailed.
inline constexpr std::size_t kBeginningMax = 4096;

inline constexpr std::uint32_t kMagic = 0x32'64'6f'70;  // "pod2": another one for each change of this file
inline constexpr std::uint32_t kTerminal = 1;           ///< stdin becomes the session's controlling terminal
inline constexpr std::uint32_t kWhole = 2;              ///< its end ends everything in the container

/// The first message of a connection. The descriptors come with its first byte (SCM_RIGHTS). It is followed
/// by `size` bytes: the directory, the arguments and the variables (NAME=value), each with a NUL at its end.
struct StartRequest {
  std::uint32_t magic = kMagic;
  std::uint32_t size = 0;
  std::uint32_t arguments = 0;  ///< how many; at least one
  std::uint32_t variables = 0;  ///< how many
  std::uint32_t flags = 0;
};

/// Sent by the peer: a signal for the program's process group.
struct StarterSignal {
  std::int32_t number = 0;
};

enum class Kind : std::int32_t {
  kStarted = 1,  ///< the program runs (exec succeeded)
  kFailed = 2,   ///< it does not run: value = errno, detail = Step, then `size` bytes of its file's beginning
  kEnded = 3,    ///< it has ended: value = wait status, detail = OOM kills meanwhile, or -1: unknown
};

/// The step that failed.
enum class Step : std::int32_t {
  kRequest = 1,  ///< the request is malformed
  kSessions,     ///< there are kSessionsMax connections
  kFork,
  kTerminal,
  kDescriptors,
  kDirectory,
  kProgram,  ///< exec
  kLoader,   ///< exec, because the file's interpreter or loader does not exist
};

/// Sent by the starter.
struct StarterEvent {
  Kind kind{};
  std::int32_t value = 0;
  std::int32_t detail = 0;
  std::uint32_t size = 0;
  // With kEnded, the container's memory; 0: unknown, or no limit.
  std::int64_t memory_limit_bytes = 0;
  std::int64_t memory_peak_bytes = 0;
};

}  // namespace trainyard::replica::pod
