#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "engine/kubernetes/kube_client.h"

namespace trainyard::engine {

/// Reads a watch of pods as its bytes arrive, in pieces of any size: one JSON object per line. No input or
/// output. One thread at a time.
class KubeWatchReader {
 public:
  /// An object in etcd has at most some 1.5 MiB.
  static constexpr std::size_t kLineBytesMax = std::size_t{8} << 20;

  /// @param version  where the watch begins
  KubeWatchReader(std::string version, KubeClient::OnEvent on_event)
      : version_(std::move(version)), on_event_(std::move(on_event)) {}

  /// Reports the events whose lines are complete. The watch's own error, or kNoAnswer: a line cannot be read
  /// or is too long. Not to be called again after an error.
  [[nodiscard]] KubeAnswer<void> Feed(std::string_view bytes);
  /// Everything up to this version was reported.
  [[nodiscard]] const std::string& version() const noexcept { return version_; }

 private:
  [[nodiscard]] KubeAnswer<void> TakeLine(std::string_view line);

  std::string version_;
  KubeClient::OnEvent on_event_;
  std::string begun_;  ///< of a line
};

}  // namespace trainyard::engine
