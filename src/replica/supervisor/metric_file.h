#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/async/unique_fd.h"
#include "programs/attempt/attempt_dir.h"

namespace trainyard::replica {

/// Of a metric file that is larger, the end is read: the newest reports are there.
inline constexpr std::size_t kMetricFileBytesMax = std::size_t{4} << 20;

/// The file that cloudml-hypertune writes in a replica, and a notice whenever it was written: no timer, and
/// no look at it while nothing writes it. One thread. Source: spec hyperparameter-tuning.md section 5.
class MetricFile {
 public:
  /// Before the program starts: makes the file's directory.
  explicit MetricFile(const AttemptDir& dir);

  /// Readable when the file was written and closed, or moved there; -1: there are no notices.
  [[nodiscard]] int fd() const noexcept { return notices_.get(); }
  /// Takes the notices.
  void OnReadable();
  /// What it holds now, whole lines; nothing: it is not there.
  [[nodiscard]] std::optional<std::string> Read() const;

 private:
  std::string folder_;
  UniqueFd notices_;  ///< inotify
};

}  // namespace trainyard::replica
