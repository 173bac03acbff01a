#include "programs/attempt/spool.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include "base/async/file.h"
#include "base/check.h"
#include "rules/jobs/service_lines.h"

namespace trainyard::replica {

namespace {

std::uint32_t Checksum(std::string_view content) noexcept {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
}

void AppendWord(std::uint32_t word, std::string& out) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(word >> shift);
}

std::uint32_t Word(std::string_view bytes, std::size_t at) noexcept {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i)
    word |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return word;
}

/// Whether a record may begin there. The test avoids computing checksums of text: a record's content is a
/// chunk, which begins with the tag of its first field that is not 0.
bool MayBegin(std::string_view bytes) {
  constexpr char kFirstLineTag = v1::LogChunk::kFirstLineFieldNumber << 3;
  constexpr char kLineCountTag = v1::LogChunk::kLineCountFieldNumber << 3;
  const char tag = bytes[kSpoolHeaderBytes];
  return tag == kFirstLineTag || tag == kLineCountTag;
}

Status WriteAt(int file, std::string_view bytes, std::int64_t at) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(file, bytes.data(), bytes.size(), at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return std::unexpected(ErrnoError(errno, "write the log spool"));
    bytes.remove_prefix(static_cast<std::size_t>(written));
    at += written;
  }
  return {};
}

/// Reads the bytes from `from` to `to` - 1, with 0 for those that the disk cannot read. An error: try again.
Result<std::string> ReadWhatIsThere(int file, std::int64_t from, std::int64_t to) {
  constexpr std::size_t kPageBytes = 4096;
  std::string bytes(static_cast<std::size_t>(to - from), '\0');
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t size =
        pread(file, bytes.data() + done, bytes.size() - done, from + static_cast<std::int64_t>(done));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno != EIO) return std::unexpected(ErrnoError(errno, "read the log spool"));
    if (size == 0) break;
    done += size > 0 ? static_cast<std::size_t>(size) : kPageBytes;
  }
  return bytes;
}

Result<std::string> ReadSegment(const std::string& path) {
  TY_TRY(const UniqueFd file, OpenFile(path, O_RDONLY));
  struct stat found{};
  if (fstat(file.get(), &found) != 0) return std::unexpected(ErrnoError(errno, path));
  return ReadWhatIsThere(file.get(), 0, found.st_size);
}

}  // namespace

std::string SpoolRecord(std::string_view content) {
  std::string record;
  record.reserve(kSpoolHeaderBytes + content.size());
  AppendWord(static_cast<std::uint32_t>(content.size()), record);
  AppendWord(Checksum(content), record);
  return record.append(content);
}

std::size_t SpoolContentSize(std::string_view header) noexcept { return Word(header, 0); }

bool SpoolContentIntact(std::string_view header, std::string_view content) noexcept {
  return content.size() == Word(header, 0) && Checksum(content) == Word(header, 4);
}

bool TakeSpoolRecord(std::string_view& bytes, std::string_view& content) noexcept {
  if (bytes.size() < kSpoolHeaderBytes) return false;
  const std::size_t size = SpoolContentSize(bytes);
  if (bytes.size() - kSpoolHeaderBytes < size) return false;
  const std::string_view found = bytes.substr(kSpoolHeaderBytes, size);
  if (!SpoolContentIntact(bytes, found)) return false;
  content = found;
  bytes.remove_prefix(kSpoolHeaderBytes + size);
  return true;
}

std::optional<FoundChunk> FindChunk(std::string_view bytes, LineRange lines) {
  FoundChunk found;
  for (; found.begin + kSpoolHeaderBytes < bytes.size(); ++found.begin) {
    std::string_view rest = bytes.substr(found.begin);
    std::string_view content;
    if (!MayBegin(rest) || !TakeSpoolRecord(rest, content)) continue;
    if (!found.chunk.ParseFromArray(content.data(), static_cast<int>(content.size()))) continue;
    const std::int64_t first = found.chunk.first_line();
    if (first < lines.begin || found.chunk.line_count() <= 0 || first >= lines.end ||
        found.chunk.line_count() > lines.end - first)
      continue;
    found.size = kSpoolHeaderBytes + content.size();
    return found;
  }
  return std::nullopt;
}

v1::LogChunk MissingLines(LineRange lines, std::uint64_t next_stamp) {
  const std::int64_t count = std::min(lines.end - lines.begin, kMissingLinesMax);
  const std::int64_t last = lines.begin + count;
  const std::string text =
      count == 1 ? "Line " + std::to_string(last) +
                       " is not in this log: the disk lost it before the server received it."
                 : "Lines " + std::to_string(lines.begin + 1) + " to " + std::to_string(last) +
                       " are not in this log: the disk lost them before the server received them.";
  // The lost lines had stamps, which are odd and increase, so there are enough numbers before the next stamp.
  const std::uint64_t span = 2 * static_cast<std::uint64_t>(lines.end - lines.begin);
  return jobs::ChunkOfLostLines(lines.begin, last, next_stamp - std::min(next_stamp, span), text);
}

Result<Spool> Spool::Create(std::string folder) {
  if (mkdir(folder.c_str(), 0700) != 0) {
    if (errno == EEXIST)
      return std::unexpected(Error{Code::kAlreadyExists, "the attempt has been started before", {}});
    return std::unexpected(ErrnoError(errno, "mkdir " + folder));
  }
  return Spool(std::move(folder));
}

Status Spool::OpenSegment(std::int64_t first_line) {
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "/%016lld.log", static_cast<long long>(first_line));
  std::string path = folder_ + name.data();
  TY_TRY(UniqueFd file, OpenFile(path, O_RDWR | O_CREAT, 0600));
  segments_.push_back({.begin = end_, .path = std::move(path), .file = std::move(file)});
  has_new_segments_ = true;
  return {};
}

Status Spool::Append(const v1::LogChunk& chunk) {
  if (segments_.empty() || segments_.back().size >= kSpoolSegmentBytes)
    TY_RETURN_IF_ERROR(OpenSegment(chunk.first_line()));
  Segment& segment = segments_.back();
  const std::string record = SpoolRecord(chunk.SerializeAsString());
  if (const Status written = WriteAt(segment.file.get(), record, segment.size); !written) {
    if (ftruncate(segment.file.get(), segment.size) != 0) return written;  // the next try overwrites the rest
    return written;
  }
  const auto size = static_cast<std::int64_t>(record.size());
  segment.size += size;
  end_ += size;
  end_line_ = chunk.first_line() + chunk.line_count();
  end_stamp_ = chunk.last_stamp() + 2;
  return {};
}

Status Spool::Sync() {
  if (acknowledged() >= end_) return {};
  for (Segment& segment : segments_) {
    if (segment.synced == segment.size) continue;
    if (fdatasync(segment.file.get()) != 0) return std::unexpected(ErrnoError(errno, "sync " + segment.path));
    segment.synced = segment.size;
  }
  if (has_new_segments_) TY_RETURN_IF_ERROR(SyncDirectory(folder_));
  has_new_segments_ = false;
  return {};
}

Result<Spool::Next> Spool::FindNext() const {
  const auto segment = std::prev(std::ranges::upper_bound(segments_, next_, {}, &Segment::begin));
  const std::int64_t at = next_ - segment->begin;
  constexpr auto kHeader = static_cast<std::int64_t>(kSpoolHeaderBytes);
  TY_TRY(const std::string header, ReadWhatIsThere(segment->file.get(), at, at + kHeader));
  const std::int64_t size = kHeader + static_cast<std::int64_t>(SpoolContentSize(header));
  if (size > segment->size - at) return FindBehindDamage(segment);
  TY_TRY(std::string record, ReadWhatIsThere(segment->file.get(), at, at + size));
  std::optional<FoundChunk> found = FindChunk(record, {next_line_, end_line_});
  if (!found || found->begin != 0) return FindBehindDamage(segment);
  return Next{
      .end = next_ + size, .chunk = std::move(found->chunk), .content = record.substr(kSpoolHeaderBytes)};
}

Result<Spool::Next> Spool::FindBehindDamage(std::deque<Segment>::const_iterator segment) const {
  for (; segment != segments_.end(); ++segment) {
    const std::int64_t from = std::max<std::int64_t>(next_ - segment->begin, 0);
    TY_TRY(const std::string rest, ReadWhatIsThere(segment->file.get(), from, segment->size));
    std::optional<FoundChunk> found = FindChunk(rest, {next_line_, end_line_});
    if (!found) continue;
    const std::int64_t end = segment->begin + from + static_cast<std::int64_t>(found->begin + found->size);
    std::string content = found->chunk.SerializeAsString();
    return Next{.end = end, .chunk = std::move(found->chunk), .content = std::move(content)};
  }
  Next none{.end = end_};
  none.chunk.set_first_line(end_line_);
  none.chunk.set_first_stamp(end_stamp_);
  return none;
}

Result<std::optional<std::string>> Spool::TakeNext() {
  while (next_ < end_ && in_flight_bytes_ < kInFlightBytesMax && in_flight_.size() < kInFlightChunksMax) {
    TY_TRY(Next found, FindNext());
    if (const std::int64_t first = found.chunk.first_line(); first > next_line_) {
      found = {.end = next_, .chunk = MissingLines({next_line_, first}, found.chunk.first_stamp())};
      found.content = found.chunk.SerializeAsString();
    }
    const std::int64_t size = found.end - next_;
    in_flight_.push_back(
        {.begin = next_, .size = size, .lines = {next_line_, next_line_ + found.chunk.line_count()}});
    in_flight_bytes_ += size;
    next_ = found.end;
    next_line_ = in_flight_.back().lines.end;
    if (next_line_ > acknowledged_line_ && found.chunk.line_count() > 0) return std::move(found.content);
    Acknowledge(acknowledged_line_);
  }
  return std::nullopt;
}

void Spool::Rewind() {
  if (!in_flight_.empty()) {
    next_ = in_flight_.front().begin;
    next_line_ = in_flight_.front().lines.begin;
  }
  in_flight_.clear();
  in_flight_bytes_ = 0;
}

void Spool::Acknowledge(std::int64_t next_line) {
  acknowledged_line_ = std::max(acknowledged_line_, next_line);
  while (!in_flight_.empty() && in_flight_.front().lines.end <= acknowledged_line_) {
    in_flight_bytes_ -= in_flight_.front().size;
    in_flight_.pop_front();
  }
  DropSegments();
}

void Spool::DropSegments() {
  while (!segments_.empty()) {
    const Segment& oldest = segments_.front();
    if (oldest.begin + oldest.size > acknowledged() || oldest.size < kSpoolSegmentKeptBytes) return;
    unlink(oldest.path.c_str());
    segments_.pop_front();
  }
}

Result<std::vector<v1::LogChunk>> ReadSpool(const std::string& folder, std::int64_t from_line) {
  TY_TRY(std::vector<std::filesystem::path> paths, EntriesOf(folder));
  std::erase_if(paths, [](const std::filesystem::path& path) { return path.extension() != ".log"; });
  std::ranges::sort(paths);
  std::vector<v1::LogChunk> chunks;
  LineRange left;  // still to be found
  for (const std::filesystem::path& path : paths) {
    TY_TRY(const std::string bytes, ReadSegment(path));
    std::string_view rest = bytes;
    while (std::optional<FoundChunk> found = FindChunk(rest, left)) {
      rest.remove_prefix(found->begin + found->size);
      left.begin = std::max(left.begin, from_line);
      while (left.begin < found->chunk.first_line()) {
        chunks.push_back(MissingLines({left.begin, found->chunk.first_line()}, found->chunk.first_stamp()));
        left.begin += chunks.back().line_count();
      }
      left.begin = found->chunk.first_line() + found->chunk.line_count();
      if (left.begin > from_line) chunks.push_back(std::move(found->chunk));
    }
  }
  return chunks;
}

}  // namespace trainyard::replica
