#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/unique_fd.h"
#include "programs/attempt/attempt_dir.h"
#include "rules/measurement/hypertune_file.h"
#include "rules/measurement/hypertune_tags.h"
#include "rules/measurement/summaries.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::replica {

// Opens directories and files that a user's program owns and may change at any time: links are not followed,
// and only regular files are read. Blocking; any thread. Returns no descriptor if there is no such file.

[[nodiscard]] UniqueFd OpenFolder(const std::string& path);
/// Opens one directory after another: the program may replace any of them with a link.
[[nodiscard]] UniqueFd OpenFolderBelow(UniqueFd folder, std::string_view path);
/// Opens a regular file of the directory; does not block on a pipe.
[[nodiscard]] UniqueFd OpenBelow(int folder, const char* name);
/// The number of bytes read; 0: there are none.
[[nodiscard]] std::size_t ReadAt(int file, std::uint64_t offset, std::span<char> buffer);

/// If a metric file is larger, only its end is read: the newest reports are there.
inline constexpr std::size_t kMetricFileBytesMax = std::size_t{4} << 20;

/// The file that cloudml-hypertune writes in a replica, with a notification whenever it was written: no
/// timer, and no reading while nothing writes it. One thread. Source: spec hyperparameter-tuning.md section
/// 5.
class MetricFile {
 public:
  /// Creates the file's directory; before the program starts.
  explicit MetricFile(const AttemptDir& dir);

  /// Becomes readable when the file was written and closed, or moved there; -1: no notifications are
  /// available.
  [[nodiscard]] int fd() const noexcept { return notices_.get(); }
  /// Reads the notifications.
  void OnReadable();
  /// The file's present contents, whole lines; nothing: there is no file.
  [[nodiscard]] std::optional<std::string> Read() const;

 private:
  std::string folder_;
  UniqueFd notices_;  ///< inotify
};

/// How often a replica's own directories are searched for event files; rarely enough that searching takes at
/// most a twentieth of the time. The metric file is read whenever it was written.
inline constexpr std::chrono::milliseconds kSearchInterval{5'000};

/// Reports are not sent more often.
inline constexpr std::chrono::milliseconds kReportInterval{1'000};

/// Limits of a search for event files, so that it ends whatever a program unpacks. Files beyond the limits
/// are not found, and the report says that there are more.
struct EventSearchLimits {
  std::size_t folder_entries = 50'000;  ///< in one directory, so that a full one leaves some for the others
  std::size_t entries = 300'000;        ///< in all directories together
  int depth = 16;                       ///< nested directories below one of the replica's own
};

/// The reports of a trial's master, read from the files that its program writes into the replica's own
/// directories: the metric file of cloudml-hypertune, otherwise TensorFlow's event files. Driven by its
/// owner's poll loop; reads in slices. Links are not followed. One thread. Source: spec
/// hyperparameter-tuning.md sections 5 and 6; docs/adr/0020-metrics.md.
class MetricWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Creates the directory of the metric file; before the program starts.
  /// @param tags  not empty; the first one is the tuning job's own metric, the others are further ones
  MetricWatch(const std::vector<std::string>& tags, AttemptDir dir, Time now, EventSearchLimits limits = {});
  MetricWatch(const MetricWatch&) = delete;
  MetricWatch& operator=(const MetricWatch&) = delete;

  /// The descriptor of the metric file's notifications. Poll it for input.
  [[nodiscard]] int fd() const noexcept { return metric_file_.fd(); }
  void OnReadable();
  /// The time at which Step or TakeDue must be called even without an event.
  [[nodiscard]] Time deadline() const noexcept;
  void Step(Time now);
  /// Reads everything that is left, once nothing writes any more.
  void ReadRest();

  [[nodiscard]] v1::MetricReport Report() const;
  /// The report to send now: something is new, and the last report was kReportInterval ago. Call it in every
  /// round, whether or not it can be sent.
  [[nodiscard]] bool TakeDue(Time now);
  /// A line for the log, once for each tag that was found only with TensorFlow's suffix. Empty: there is
  /// nothing (new); until then, there may be another one.
  [[nodiscard]] std::string TakeWarning();

 private:
  /// A directory of the replica, with its name in reports.
  struct Root {
    std::string shown;
    std::string path;
  };
  struct EventFile {
    const Root* root;
    std::string path;  ///< relative to the root
  };

  void ReadMetricFile();
  void Search();
  bool ReadSome(const EventFile& file, std::uint64_t bytes_max);

  [[nodiscard]] v1::MetricReport ReportOfFile() const;

  AttemptDir dir_;
  EventSearchLimits limits_;
  std::vector<Root> roots_;
  MetricFile metric_file_;  ///< without its notifications the search reads it as well, only later
  Time next_;
  measurement::HypertuneFile file_;
  bool file_seen_ = false;
  measurement::Summaries summaries_;
  std::vector<EventFile> waiting_;  ///< found and not read yet; the last one is next
  bool searched_all_ = true;        ///< the last search did not reach a limit
  bool changed_ = false;
  Time due_{};                    ///< when the next report is due, if there is one
  std::set<std::string> warned_;  ///< tags
};

/// The minimum time between reports.
inline constexpr std::chrono::milliseconds kTagsInterval{2'000};
/// Reading the metric file takes at most this part of the supervisor's time: 1 / kTagsRest.
inline constexpr int kTagsRest = 10;

/// The reports of a master's program with cloudml-hypertune under any tag, in any job, except a tuning job's
/// own tag, which is MetricWatch's. Takes no time before the program writes the file. Driven by its owner's
/// poll loop; one thread.
class TagWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Before the program starts. @param metric_tag  the tuning job's tag; empty: not a tuning job.
  TagWatch(std::string metric_tag, const AttemptDir& dir) : file_(dir), tags_(std::move(metric_tag)) {}

  /// Poll it for input; -1: there are no notifications, or reading pauses now.
  [[nodiscard]] int fd() const noexcept { return rest_end_ ? -1 : file_.fd(); }
  void OnReadable(Time now);
  /// The time at which TakeDue must be called even without an event.
  [[nodiscard]] Time deadline() const noexcept;
  /// The reports to send now. Call it in every round, whether or not they can be sent.
  [[nodiscard]] std::vector<v1::MetricReport> TakeDue(Time now);
  /// Reads what is left, once nothing writes any more.
  void ReadRest() { Read(); }

  [[nodiscard]] const measurement::HypertuneTags& tags() const noexcept { return tags_; }

 private:
  void Read();

  MetricFile file_;
  measurement::HypertuneTags tags_;
  Time due_{};                    ///< when the next reports are due, if there are any
  std::optional<Time> rest_end_;  ///< the file is not read before this time
};

}  // namespace trainyard::replica
