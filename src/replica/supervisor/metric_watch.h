#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
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

// Files in directories that a user's program owns and may change at any time: links are not followed, and
// what is no regular file is not read. Blocking; any thread. Nothing where it is not there.

[[nodiscard]] UniqueFd OpenFolder(const std::string& path);
/// Directory by directory: the program may put a link in place of any of them.
[[nodiscard]] UniqueFd OpenFolderBelow(UniqueFd folder, std::string_view path);
/// A regular file of the directory; pipes do not block.
[[nodiscard]] UniqueFd OpenBelow(int folder, const char* name);
/// How much was read; 0: nothing is there.
[[nodiscard]] std::size_t ReadAt(int file, std::uint64_t offset, std::span<char> buffer);

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

/// How often a replica's own directories are searched for event files; rarely enough that searching takes at
/// most a twentieth of the time. The metric file is read whenever it was written.
inline constexpr std::chrono::milliseconds kSearchInterval{5'000};

/// Reports are not sent more often.
inline constexpr std::chrono::milliseconds kReportInterval{1'000};

/// How much is looked at in a search for event files, so that it ends whatever a program unpacks. What is
/// beyond the limits is not found, and the report says that there is more.
struct EventSearchLimits {
  std::size_t folder_entries = 50'000;  ///< of one directory, so that a full one leaves some for the others
  std::size_t entries = 300'000;        ///< of all folders together
  int depth = 16;                       ///< folders inside each other, below one of the replica's own
};

/// What the program of a trial's master reports, by the files that it writes into the replica's own
/// directories: the metric file of cloudml-hypertune, else TensorFlow's event files. Driven by its owner's
/// poll loop; reads in slices. Links are not followed. One thread. Source: spec hyperparameter-tuning.md
/// sections 5 and 6; docs/adr/0020-metrics.md.
class MetricWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Before the program starts: makes the directory of the metric file.
  MetricWatch(std::string tag, AttemptDir dir, Time now, EventSearchLimits limits = {});
  MetricWatch(const MetricWatch&) = delete;
  MetricWatch& operator=(const MetricWatch&) = delete;

  /// The metric file's notices. Poll it for input.
  [[nodiscard]] int fd() const noexcept { return metric_file_.fd(); }
  void OnReadable();
  /// When Step or TakeDue has something to do without any event.
  [[nodiscard]] Time deadline() const noexcept;
  void Step(Time now);
  /// Everything that is there, now that nothing writes any more.
  void ReadRest();

  [[nodiscard]] v1::MetricReport Report() const;
  /// Whether a report is to be sent now: something is new, and the last one is kReportInterval ago. To be
  /// asked in every round, whether or not it can be sent.
  [[nodiscard]] bool TakeDue(Time now);
  /// A line for the log, once: the tag was found only with TensorFlow's suffix. Empty: nothing (new).
  [[nodiscard]] std::string TakeWarning();

 private:
  /// A directory of the replica, as it is called in a report.
  struct Root {
    std::string shown;
    std::string path;
  };
  struct Found {
    const Root* root;
    std::string path;  ///< below the root
  };

  void ReadMetricFile();
  void Search();
  bool ReadSome(const Found& file, std::uint64_t bytes_max);

  std::string tag_;
  AttemptDir dir_;
  EventSearchLimits limits_;
  std::vector<Root> roots_;
  MetricFile metric_file_;  ///< without its notices the search reads it as well, only later
  Time next_;
  measurement::HypertuneFile file_;
  bool file_seen_ = false;
  measurement::Summaries summaries_;
  std::vector<Found> waiting_;  ///< found and not read yet; the last is next
  bool searched_all_ = true;    ///< the last search met no limit
  bool changed_ = false;
  Time due_{};  ///< of the next report, if there is one
  bool warned_ = false;
};

/// What changed is not reported more often.
inline constexpr std::chrono::milliseconds kTagsInterval{2'000};
/// Reading the metric file takes at most this part of the supervisor's time: 1 / kTagsRest.
inline constexpr int kTagsRest = 10;

/// What a master's program reports with cloudml-hypertune under any tag, in any job; a tuning job's own tag
/// is MetricWatch's. Nothing happens, and no time passes, before the program writes the file. Driven by its
/// owner's poll loop; one thread.
class TagWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Before the program starts. @param metric_tag  of a tuning job; empty: it is none.
  TagWatch(std::string metric_tag, const AttemptDir& dir) : file_(dir), tags_(std::move(metric_tag)) {}

  /// Poll it for input; -1: there is none, or it is to rest.
  [[nodiscard]] int fd() const noexcept { return rest_end_ ? -1 : file_.fd(); }
  void OnReadable(Time now);
  /// When TakeDue has something to do without any event.
  [[nodiscard]] Time deadline() const noexcept;
  /// What is to be sent now. To be asked in every round, whether or not it can be sent.
  [[nodiscard]] std::vector<v1::MetricReport> TakeDue(Time now);
  /// What is there, now that nothing writes any more.
  void ReadRest() { Read(); }

  [[nodiscard]] const measurement::HypertuneTags& tags() const noexcept { return tags_; }

 private:
  void Read();

  MetricFile file_;
  measurement::HypertuneTags tags_;
  Time due_{};                    ///< of the next reports, if there are any
  std::optional<Time> rest_end_;  ///< the file is not read before
};

}  // namespace trainyard::replica
