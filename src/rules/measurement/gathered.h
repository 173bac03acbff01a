#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rules/measurement/event_reader.h"
#include "rules/measurement/metric_files.h"

namespace trainyard::measurement {

/// A curve as columns of equal length, ordered by step, then time. Pure: any thread.
struct Columns {
  std::vector<double> steps;
  std::vector<double> times;  ///< seconds since 1970
  std::vector<float> values;  ///< may be NaN or infinite

  [[nodiscard]] std::size_t size() const noexcept { return values.size(); }
  [[nodiscard]] bool empty() const noexcept { return values.empty(); }
  void Append(double step, double time_s, float value);
  friend bool operator==(const Columns&, const Columns&) = default;
};

/// The memory of one point.
inline constexpr std::size_t kPointBytes = 2 * sizeof(double) + sizeof(float);

/// Sorted by step, then time. Of points with the same step and time only the latest one is kept.
[[nodiscard]] Columns Ordered(Columns columns);

/// The requested part of a curve, including both ends.
struct Range {
  enum class Axis { kStep, kTime };
  Axis axis = Axis::kStep;
  double from = -std::numeric_limits<double>::infinity();
  double to = std::numeric_limits<double>::infinity();
};

/// A part of a curve, thinned.
struct Part {
  Columns columns;
  std::size_t points = 0;  ///< within the range, before thinning
};

/// The points within the range; if there are more than `points_max`, those that ExtremesOf selects.
[[nodiscard]] Part PartOf(const Columns& ordered, const Range& range, std::size_t points_max);

/// The name of a job's curve: its trial (empty: none), its folder below the job directory, its tag.
struct SeriesName {
  std::string trial_id;
  std::string run;
  std::string tag;
  bool hypertune = false;  ///< reported by cloudml-hypertune
  friend auto operator<=>(const SeriesName&, const SeriesName&) = default;
};

/// Limits per job: series, points of all series together, event files, and images and texts of one tag (the
/// newest) and of all tags.
inline constexpr std::size_t kSeriesKeptMax = 20'000;
inline constexpr std::size_t kPointsKeptMax = 4'000'000;
inline constexpr std::size_t kFilesReadMax = 5'000;
inline constexpr std::size_t kSummariesOfTagMax = 50;
inline constexpr std::size_t kSummariesKeptMax = 5'000;
/// The limit of all other memory of a job: names of files and curves, remembered tags, beginnings of texts.
inline constexpr std::size_t kNamesBytesMax = std::size_t{32} << 20;

/// An image or a text, and its file.
struct KeptSummary {
  SummaryValue value;
  std::string file;  ///< below the job directory
};

/// The contents of one job's event files, and of MLflow's and W&B's, for all tags. Beyond kPointsKeptMax the
/// longest curve is thinned to half, keeping its extremes; beyond kNamesBytesMax no new curves or files are
/// added. Pure: the bytes come from the caller. One thread at a time.
class Gathered {
 public:
  /// Identifies a state of a file. A file with another id counts as a new file if it is shorter, begins with
  /// other bytes or does not continue as an event file. Then it is read from the beginning; values of the old
  /// one are kept.
  struct FileVersion {
    std::uint64_t id = 0;
    std::uint64_t size = 0;
  };

  /// `split_trials`: the folders "1", "2", ... of the job directory belong to trials.
  explicit Gathered(bool split_trials) : split_trials_(split_trials) {}

  /// Reads the new bytes of one file, at most about `bytes_max`. `path`: relative to the job directory. True:
  /// there is more.
  bool Read(std::string_view path, FileVersion now, std::uint64_t bytes_max,
            const FileWindow::ReadAt& read_at);
  /// Sets a curve that comes from another source.
  void Put(const SeriesName& name, Columns columns);

  struct Series {
    Columns columns;      ///< by step, then time, after Settle()
    bool ordered = true;  ///< whether the points are in order
    bool thinned = false;
  };
  /// Sorts all series. Call it before the accessors.
  void Settle();
  [[nodiscard]] const std::map<SeriesName, Series>& series() const noexcept { return series_; }
  /// By trial, run and tag; newest step first.
  [[nodiscard]] const std::map<SeriesName, std::deque<KeptSummary>>& summaries() const noexcept {
    return summaries_;
  }
  [[nodiscard]] std::size_t points() const noexcept { return points_; }
  /// The approximate memory of all of it.
  [[nodiscard]] std::size_t bytes() const noexcept { return points_ * kPointBytes + names_bytes_; }
  [[nodiscard]] std::size_t files() const noexcept { return files_.size(); }
  /// Whether something was dropped: there are too many files, tags or points.
  [[nodiscard]] bool incomplete() const noexcept { return incomplete_; }

 private:
  struct File {
    std::variant<EventReader, MlflowReader, MlflowDatabaseReader, WandbReader> reader{};
    std::uint64_t id = 0;
    std::size_t beginning_bytes = 0;  ///< the number of first bytes that beginning_crc covers
    std::uint32_t beginning_crc = 0;
    std::size_t tags_bytes = 0;  ///< its reader's memory for tags that is included in names_bytes_
  };

  static File NewFile(std::string_view path, std::uint64_t id);
  static bool IsAnother(const File& file, FileVersion now, const FileWindow::ReadAt& read_at);
  [[nodiscard]] SeriesName NameOf(std::string_view path, const std::string& tag) const;
  void Take(std::string_view path, const SummaryValue& value);
  void TakeScalar(SeriesName name, const SummaryValue& value);
  void TakeSummary(const SeriesName& name, KeptSummary summary);
  bool TakeRoom(std::size_t bytes);
  void CountTags(File& file);
  File* FindOrAdd(std::string_view path, FileVersion now);
  void ThinLongest();

  bool split_trials_;
  std::map<std::string, File, std::less<>> files_;
  std::map<SeriesName, Series> series_;
  std::map<SeriesName, std::deque<KeptSummary>> summaries_;
  std::size_t points_ = 0;
  std::size_t summary_count_ = 0;
  std::size_t names_bytes_ = 0;
  bool incomplete_ = false;
};

}  // namespace trainyard::measurement
