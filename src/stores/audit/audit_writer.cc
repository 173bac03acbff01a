#include "stores/audit/audit_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "base/wire/time.h"
#include "stores/audit/audit_entry.h"
#include "stores/audit/line_reader.h"

namespace trainyard::audit {

namespace {

constexpr mode_t kMode = 0600;
constexpr std::size_t kBatchBytesMax = std::size_t{1} << 20;

std::chrono::sys_days DayOf(SysTime time) { return std::chrono::floor<std::chrono::days>(time); }

struct Tail {
  std::optional<SysTime> last_time;
  bool is_cut = false;
};

/// The file's last readable entry, among its last lines.
Result<Tail> ReadTail(const std::string& path) {
  constexpr int kLinesMax = 100;
  Tail tail;
  TY_TRY(LineReader reader, LineReader::Open(path));
  std::int64_t offset = reader.size();
  for (int i = 0; i < kLinesMax; ++i) {
    TY_TRY(const std::optional<LineReader::Line> line, reader.Before(offset));
    if (!line) break;
    if (i == 0) tail.is_cut = line->text.empty();
    offset = line->begin;
    const std::optional<logging::v2::LogEntry> entry = ParseEntry(line->text);
    if (!entry) continue;
    tail.last_time = wire::FromProto(entry->timestamp());
    break;
  }
  return tail;
}

}  // namespace

Result<AuditWriter> AuditWriter::Open(Options options, SysTime now) {
  TY_RETURN_IF_ERROR(MakePrivateFolder(options.folder));
  AuditWriter writer(std::move(options));
  TY_TRY(const std::vector<AuditFile> files, ListAuditFiles(writer.options_.folder));
  if (!files.empty()) TY_RETURN_IF_ERROR(writer.GoOn(files.back()));
  TY_RETURN_IF_ERROR(writer.RemoveOld(DayOf(now), files.empty() ? DayOf(now) : files.back().day));
  return writer;
}

Status AuditWriter::GoOn(const AuditFile& newest) {
  const std::string path = options_.folder + "/" + newest.Name();
  TY_TRY(const Tail tail, ReadTail(path));
  TY_TRY(file_, OpenFile(path, O_WRONLY | O_APPEND | O_NOFOLLOW, kMode));
  current_ = newest;
  last_time_ = tail.last_time;
  is_cut_ = tail.is_cut;
  return {};
}

bool AuditWriter::Fits(const Line& line, std::int64_t bytes) const {
  if (!file_ || current_.day != DayOf(line.time)) return false;
  if (last_time_ && line.time <= *last_time_) return false;  // the clock was turned back
  return bytes == 0 || bytes + std::ssize(line.text) <= options_.file_bytes_max;
}

Status AuditWriter::Append(std::deque<Line>& lines) {
  while (!lines.empty()) {
    if (options_.before_write) TY_RETURN_IF_ERROR(options_.before_write());
    if (!Fits(lines.front(), current_.bytes)) TY_RETURN_IF_ERROR(Rotate(lines.front()));
    std::string batch = is_cut_ ? "\n" : "";
    std::size_t count = 0;
    const std::optional<SysTime> last_before = last_time_;
    for (const Line& line : lines) {
      const bool fits = count == 0 || Fits(line, current_.bytes + std::ssize(batch));
      if (!fits || (count > 0 && batch.size() + line.text.size() > kBatchBytesMax)) break;
      batch += line.text;
      last_time_ = line.time;
      ++count;
    }
    if (Status written = Write(batch); !written) {
      last_time_ = last_before;
      return written;
    }
    lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return {};
}

Status AuditWriter::Write(const std::string& batch) {
  Status written = WriteAll(file_.get(), batch);
  if (written) {
    current_.bytes += std::ssize(batch);
    is_cut_ = false;
    return {};
  }
  // Otherwise the part that was written would be repeated.
  if (::ftruncate(file_.get(), current_.bytes) != 0) file_ = UniqueFd();
  return written;
}

Status AuditWriter::Rotate(const Line& line) {
  if (file_) TY_RETURN_IF_ERROR(Sync());
  const std::chrono::sys_days day = DayOf(line.time);
  const std::chrono::sys_days day_before = file_ ? current_.day : day;
  AuditFile next{.day = day};
  TY_TRY(const std::vector<AuditFile> files, ListAuditFiles(options_.folder));
  for (const AuditFile& file : files)
    if (file.day == day) next.number = file.number + 1;
  const std::string path = options_.folder + "/" + next.Name();
  TY_TRY(UniqueFd file, OpenFile(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL, kMode));
  TY_RETURN_IF_ERROR(SyncDirectory(options_.folder));
  file_ = std::move(file);
  current_ = next;
  last_time_.reset();
  is_cut_ = false;
  return RemoveOld(day, day_before);
}

Status AuditWriter::RemoveOld(std::chrono::sys_days day, std::chrono::sys_days day_before) const {
  const std::chrono::sys_days today = std::min(day, day_before + std::chrono::days(1));
  TY_TRY(const std::vector<AuditFile> files, ListAuditFiles(options_.folder));
  for (const Removal& removal : FilesToRemove(files, current_, today, options_.retention)) {
    const std::string path = options_.folder + "/" + removal.file.Name();
    std::error_code error;
    std::filesystem::remove(path, error);
    if (error) return std::unexpected(ErrnoError(error.value(), "remove " + path));
    Diagnose(DiagnosticLevel::kInfo, "audit: " + path + " is removed: " + removal.reason);
  }
  return {};
}

Status AuditWriter::Sync() {
  if (!file_ || ::fdatasync(file_.get()) == 0) return {};
  return std::unexpected(ErrnoError(errno, "fdatasync of " + options_.folder + "/" + current_.Name()));
}

}  // namespace trainyard::audit
