#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rules/measurement/event_reader.h"
#include "rules/measurement/sqlite_table.h"

/// Curves that MLflow and W&B leave in files when they have no server of theirs. Pure; one thread at a time.
/// Source: spec hyperparameter-tuning.md section 6; MLflow's file_store.py; W&B's datastore.py and
/// wandb_internal.proto.
namespace trainyard::measurement {

enum class MetricFile : std::uint8_t { kNone, kEvents, kMlflow, kMlflowDatabase, kWandb };

/// By its path: an event file; "mlruns/EXPERIMENT/RUN/metrics/NAME", "mlflow.db" and
/// "wandb/FOLDER/run-ID.wandb" in any folder.
[[nodiscard]] MetricFile KindOfMetricFile(std::string_view path);
/// Matches the paths of such files, and some others (rules/objects/glob.h).
inline constexpr std::string_view kMetricFilesGlob =
    "{**.tfevents.*,**mlruns/*/*/metrics/**,**mlflow.db,**.wandb}";

/// An MLflow metric's file as the run's folder and the metric's name, which may have slashes.
struct MlflowMetric {
  std::string_view run;
  std::string_view name;
};
[[nodiscard]] MlflowMetric MlflowMetricOf(std::string_view path);

/// Reads lines "MILLISECONDS VALUE STEP", with a data set's name and digest behind them or without a step.
/// Values have no tag: it is the file's name.
class MlflowReader {
 public:
  /// As EventReader::Read.
  bool Read(std::uint64_t size, std::uint64_t bytes_max, const FileWindow::ReadAt& read_at,
            const EventReader::Take& take);
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
  [[nodiscard]] bool lost() const noexcept { return lost_; }

 private:
  std::uint64_t offset_ = 0;
  bool lost_ = false;
};

/// Reads the table of metrics of MLflow's database; each value names its run.
class MlflowDatabaseReader {
 public:
  /// As EventReader::Read.
  bool Read(std::uint64_t size, std::uint64_t bytes_max, const FileWindow::ReadAt& read_at,
            const EventReader::Take& take);
  [[nodiscard]] std::uint64_t offset() const noexcept { return table_.offset(); }
  [[nodiscard]] bool lost() const noexcept { return table_.lost(); }

 private:
  SqliteTable table_{"metrics"};
};

/// Reads the history of a run: LevelDB's log of records in blocks, of which history records have numbers as
/// JSON. Other values (media, tables, tags that begin with "_") are jumped over.
class WandbReader {
 public:
  /// As EventReader::Read.
  bool Read(std::uint64_t size, std::uint64_t bytes_max, const FileWindow::ReadAt& read_at,
            const EventReader::Take& take);
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
  [[nodiscard]] bool lost() const noexcept { return lost_; }

 private:
  bool ReadPieces(std::uint64_t size, std::uint64_t bytes_max, const FileWindow::ReadAt& read_at,
                  const EventReader::Take& take);
  void TakePiece(std::uint8_t type, std::string_view piece, const EventReader::Take& take);

  std::uint64_t offset_ = 0;
  bool lost_ = false;
  bool is_whole_ = false;        ///< whether no piece of the record in parts_ is missing so far
  std::uint64_t record_at_ = 0;  ///< where the record in parts_ begins
  std::string parts_;            ///< of a record that goes on in the next piece; empty at the file's end
};

}  // namespace trainyard::measurement
