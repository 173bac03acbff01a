#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "programs/runtimes/daemon_api_request.h"

namespace trainyard::http {
class Client;
class ClientStream;
enum class Method;
}  // namespace trainyard::http

namespace trainyard::replica {

using ProgressSink = std::function<void(std::string_view line)>;

/// A container daemon (Docker, podman) at the other end of its Unix socket. Synchronous: every call blocks
/// until the daemon has answered. One thread at a time; several objects for several threads.
///
/// Errors of every call, all of them sentences for the job's log: kPermissionDenied (this user may not open
/// the socket), kNotFound (there is no socket), kUnavailable (nothing answers there, or the daemon went
/// away), and those of DaemonError.
class DaemonApi {
 public:
  explicit DaemonApi(std::string socket);
  ~DaemonApi();
  DaemonApi(DaemonApi&&) noexcept;
  DaemonApi& operator=(DaemonApi&&) noexcept;

  /// kNotFound: the daemon does not have it.
  [[nodiscard]] Result<DaemonImage> InspectImage(const std::string& name);
  /// Pulls from the image's registry. `auth`: X-Registry-Auth, or empty.
  [[nodiscard]] Status PullImage(const std::string& reference, const std::string& auth,
                                 const ProgressSink& progress);
  /// Loads an archive (docker-archive) from a file.
  [[nodiscard]] Status LoadImage(int archive, const ProgressSink& progress);
  /// How this daemon gives a container NVIDIA GPUs.
  [[nodiscard]] Result<GpuWay> FindGpuWay(bool cdi_found);

  /// `body`: CreateContainerBody. kAlreadyExists: there is one of that name.
  [[nodiscard]] Status Create(const std::string& name, const std::string& body);
  /// Starts it and returns the stream of its whole output, in frames (DaemonFrames). kFailedPrecondition: its
  /// program cannot be run. kUnknown: it may run, but the daemon's answer or the output is lost.
  [[nodiscard]] Result<http::ClientStream> AttachAndStart(const std::string& name);
  /// Begins to wait for the end of a started container, on a separate connection: while the connection lasts,
  /// the daemon has not been restarted. For ReadEnd.
  [[nodiscard]] Result<http::ClientStream> OpenWait(const std::string& name);
  /// Blocks until it has ended. kUnavailable: the daemon went away before that, perhaps only for a moment.
  [[nodiscard]] Result<ContainerState> ReadEnd(http::ClientStream& wait, const std::string& name);
  /// Blocks until it has ended, even if the container daemon is restarted meanwhile.
  [[nodiscard]] Result<ContainerState> Wait(const std::string& name);
  [[nodiscard]] Result<ContainerState> Inspect(const std::string& name);
  /// `signal`: "SIGTERM", "15". One that has ended already is no error.
  [[nodiscard]] Status Signal(const std::string& name, const std::string& signal);
  /// Kills it and removes it with its volumes. It is no error if it does not exist (any more). The daemon
  /// gets 10 s for each of the two steps; after that the caller should try again.
  [[nodiscard]] Status Remove(const std::string& name);
  /// Names of the containers, running or not, with the label NAME=VALUE.
  [[nodiscard]] Result<std::vector<std::string>> List(const std::string& label);
  /// Makes an image from an ended container's files, with the configuration of the container's image.
  [[nodiscard]] Status Commit(const std::string& container, const std::string& repository,
                              const std::string& tag);

 private:
  struct Answer {
    int status = 0;
    std::string body;
  };
  [[nodiscard]] Result<Answer> Call(http::Method method, const std::string& target, std::string body = {},
                                    std::chrono::milliseconds wait_max = std::chrono::minutes(2));
  [[nodiscard]] Status Progress(const std::string& target, const std::string& auth, std::string_view what,
                                const ProgressSink& progress);
  [[nodiscard]] Status Start(const std::string& name);
  [[nodiscard]] Result<http::ClientStream> Open(const std::string& target);
  [[nodiscard]] Result<http::ClientStream> Attach(const std::string& name);
  [[nodiscard]] Error Explain(Error error) const;

  std::string socket_;
  std::unique_ptr<http::Client> client_;
};

/// Parses the stream of an attached container: each frame has a byte with the stream's number, three zeros,
/// the length (four bytes, big-endian) and that many bytes of output. Bytes are passed on as they come, even
/// from an incomplete frame. Pure. Source: Docker Engine API, "Stream format".
class DaemonFrames {
 public:
  /// Parses bytes and calls `sink` with the stream (1 or 2) and some of its bytes. An error of `sink` is
  /// returned at once.
  template <class Sink>
  [[nodiscard]] Status Feed(std::string_view bytes, const Sink& sink) {
    while (!bytes.empty()) {
      if (left_ == 0) {
        const std::size_t wanted = kHeadBytes - head_.size();
        head_.append(bytes.substr(0, wanted));
        bytes.remove_prefix(wanted < bytes.size() ? wanted : bytes.size());
        if (head_.size() < kHeadBytes) return {};
        TY_RETURN_IF_ERROR(TakeHead());
        continue;
      }
      const std::string_view output = bytes.substr(0, left_);
      TY_RETURN_IF_ERROR(sink(stream_, output));
      left_ -= static_cast<std::uint32_t>(output.size());
      bytes.remove_prefix(output.size());
    }
    return {};
  }

  /// Whether the input ended in the middle of a frame.
  [[nodiscard]] bool in_frame() const noexcept { return left_ > 0 || !head_.empty(); }

 private:
  static constexpr std::size_t kHeadBytes = 8;

  /// kDataLoss: not such a stream (a terminal's has no frames).
  [[nodiscard]] Status TakeHead() {
    const int stream = static_cast<unsigned char>(head_[0]);
    if (stream > 2 || head_.compare(1, 3, std::string_view("\0\0\0", 3)) != 0)
      return std::unexpected(Error{Code::kDataLoss, "the container's output is not in frames", {}});
    left_ = 0;
    for (std::size_t i = 4; i < kHeadBytes; ++i) left_ = left_ << 8 | static_cast<unsigned char>(head_[i]);
    stream_ = stream == 2 ? 2 : 1;
    head_.clear();
    return {};
  }

  std::string head_;
  int stream_ = 1;
  std::uint32_t left_ = 0;
};

}  // namespace trainyard::replica
