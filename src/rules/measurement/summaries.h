#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rules/measurement/curve.h"
#include "rules/measurement/event_scalars.h"
#include "rules/measurement/record_reader.h"

namespace trainyard::measurement {

/// Limits per trial: event files, and curves of one tag, one for each directory and spelling of the tag.
inline constexpr std::size_t kEventFilesMax = 1000;
inline constexpr std::size_t kCurvesMax = 64;

/// Whether a file of that name (without directories) is an event file.
[[nodiscard]] bool IsEventFile(std::string_view name) noexcept;

/// Identifies a state of a file.
struct FileVersion {
  std::uint64_t id = 0;  ///< changes when another file takes its name: inode, generation
  std::uint64_t size = 0;
};

/// A tag that was only found under the name that TensorFlow made of it.
struct RenamedTag {
  std::string tag;
  std::string spelling;  ///< with TensorFlow's suffix
  std::string place;     ///< root and directory
  friend bool operator==(const RenamedTag&, const RenamedTag&) = default;
};

/// The values of some tags in the event files below some roots. Files may grow, and may be replaced by ones
/// that begin with the same bytes (as object stores do with each flush) or with others. Pure: the bytes come
/// from the caller. One thread at a time. Source: spec hyperparameter-tuning.md section 6.
class Summaries {
 public:
  /// @param tags  not empty; the first one's measurements are `measurements` of reports, those of the others
  ///              are `further`
  explicit Summaries(const std::vector<std::string>& tags);

  /// Fills the buffer from the offset on; how many bytes that were, 0: no more (now).
  using ReadAt = std::function<std::size_t(std::uint64_t offset, std::span<char> buffer)>;

  /// Reads the new bytes of one file, at most `bytes_max`. `root` is the name for users
  /// ("gs://bucket/job/1"), `path` the file's path below it. True: there is more.
  bool Read(std::string_view root, std::string_view path, FileVersion now, std::uint64_t bytes_max,
            const ReadAt& read_at);

  /// Each tag's measurements from its preferred directory, other tags, and the directory of the first tag. A
  /// tag must have its exact spelling, or else exactly one spelling with TensorFlow's suffix ("_1"). Order of
  /// directories: validation or evaluation, then the root itself, then others, then training; among equals
  /// the one that was written last.
  [[nodiscard]] replica::v1::MetricReport Report() const;
  /// The tags for which Report() uses a spelling with a suffix.
  [[nodiscard]] std::vector<RenamedTag> RenamedTags() const;

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
    [[nodiscard]] std::string Shown() const { return folder.empty() ? root : root + "/" + folder; }
  };
  using Curves = std::map<Place, Curve>;
  /// One of the tags that are looked for.
  struct Wanted {
    std::string tag;
    Curves curves;  ///< of the tag and of its spellings with a suffix
  };

  void Take(std::string_view root, std::string_view folder, const Scalar& scalar);
  static void Add(Place place, const Scalar& scalar, Wanted& wanted);
  [[nodiscard]] static const std::string* ChosenTag(const Wanted& wanted);
  [[nodiscard]] static const Curves::value_type* Chosen(const Wanted& wanted);

  std::vector<Wanted> wanted_;
  std::map<std::string, File> files_;  ///< by root and path
  std::set<std::string> seen_tags_;
};

}  // namespace trainyard::measurement
