#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "rules/measurement/curve.h"
#include "rules/measurement/event_scalars.h"
#include "rules/measurement/record_reader.h"

namespace trainyard::measurement {

/// Event files of one trial that are looked at, and the directories and spellings of the tag that are kept
/// apart.
inline constexpr std::size_t kEventFilesMax = 1000;
inline constexpr std::size_t kCurvesMax = 64;

/// Whether a file of that name (without directories) holds events.
[[nodiscard]] bool IsEventFile(std::string_view name) noexcept;

/// What tells one state of a file from another.
struct FileVersion {
  std::uint64_t id = 0;  ///< changes when another file takes its name: inode, generation
  std::uint64_t size = 0;
};

/// Everything that the event files below some roots say of one tag. Files may grow, and may be replaced by
/// ones that begin with the same bytes (as object stores do with each flush) or with others. Pure: the bytes
/// come from the caller. One thread at a time. Source: spec hyperparameter-tuning.md section 6.
class Summaries {
 public:
  explicit Summaries(std::string tag) : tag_(std::move(tag)) {}

  /// Fills the buffer from the offset on; how many bytes that were, 0: no more (now).
  using ReadAt = std::function<std::size_t(std::uint64_t offset, std::span<char> buffer)>;

  /// Reads what is new in one file, at most `bytes_max`. The root is as users know it
  /// ("gs://bucket/job/1"), the path that of the file below it. True: there is more.
  bool Read(std::string_view root, std::string_view path, FileVersion now, std::uint64_t bytes_max,
            const ReadAt& read_at);

  /// The tag's measurements from the directory that counts, other tags, and each root as a place. The tag in
  /// its exact spelling, else in the only one that has a suffix of TensorFlow ("_1"). Directories: those of
  /// validation or evaluation, then the root itself, then others, then those of training; among equals the
  /// one that was written to last.
  [[nodiscard]] replica::v1::MetricReport Report() const;
  /// The spelling with a suffix, if that is what Report() has; else empty.
  [[nodiscard]] std::string Spelling() const;

  [[nodiscard]] std::size_t files() const noexcept { return files_.size(); }

 private:
  struct File {
    RecordReader reader;
    std::uint64_t begun_id = 0;  ///< of the version whose first bytes were read
  };
  struct Place {
    std::string root;
    std::string folder;  ///< below the root; empty: the root
    std::string tag;
    friend auto operator<=>(const Place&, const Place&) = default;
  };

  void Take(std::string_view root, std::string_view folder, const Scalar& scalar);
  [[nodiscard]] const std::string* ChosenTag() const;
  [[nodiscard]] const std::pair<const Place, Curve>* Chosen() const;

  std::string tag_;
  std::map<std::string, File> files_;  ///< by root and path
  std::map<Place, Curve> curves_;
  std::set<std::string> seen_tags_;
};

}  // namespace trainyard::measurement
