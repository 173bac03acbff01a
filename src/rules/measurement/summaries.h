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

/// Limits per trial: event files, and curves, one for each directory and spelling of the tag.
inline constexpr std::size_t kEventFilesMax = 1000;
inline constexpr std::size_t kCurvesMax = 64;

/// Whether a file of that name (without directories) is an event file.
[[nodiscard]] bool IsEventFile(std::string_view name) noexcept;

/// Identifies a state of a file.
struct FileVersion {
  std::uint64_t id = 0;  ///< changes when another file takes its name: inode, generation
  std::uint64_t size = 0;
};

/// The values of one tag in the event files below some roots. Files may grow, and may be replaced by ones
/// that begin with the same bytes (as object stores do with each flush) or with others. Pure: the bytes come
/// from the caller. One thread at a time. Source: spec hyperparameter-tuning.md section 6.
class Summaries {
 public:
  explicit Summaries(std::string tag) : tag_(std::move(tag)) {}

  /// Fills the buffer from the offset on; how many bytes that were, 0: no more (now).
  using ReadAt = std::function<std::size_t(std::uint64_t offset, std::span<char> buffer)>;

  /// Reads the new bytes of one file, at most `bytes_max`. `root` is the name for users
  /// ("gs://bucket/job/1"), `path` the file's path below it. True: there is more.
  bool Read(std::string_view root, std::string_view path, FileVersion now, std::uint64_t bytes_max,
            const ReadAt& read_at);

  /// The tag's measurements from the preferred directory, other tags, and each root as a place. The tag must
  /// have its exact spelling, or else exactly one spelling with TensorFlow's suffix ("_1"). Order of
  /// directories: validation or evaluation, then the root itself, then others, then training; among equals
  /// the one that was written last.
  [[nodiscard]] replica::v1::MetricReport Report() const;
  /// The spelling with a suffix, if Report() uses it; else empty.
  [[nodiscard]] std::string Spelling() const;

  [[nodiscard]] std::size_t files() const noexcept { return files_.size(); }

 private:
  struct File {
    RecordReader reader;
    std::uint64_t begun_id = 0;  ///< id of the version whose first bytes were read
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
