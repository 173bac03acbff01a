#include "attempt/spool.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "async/file.h"
#include "attempt/spool_record.h"
#include "base/check.h"

namespace trainyard::replica {

namespace {

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

Status ReadAt(int file, std::string& bytes, std::int64_t at) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t size =
        pread(file, bytes.data() + done, bytes.size() - done, at + static_cast<std::int64_t>(done));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return std::unexpected(ErrnoError(errno, "read the log spool"));
    if (size == 0) return std::unexpected(Error{Code::kDataLoss, "the log spool was cut off", {}});
    done += static_cast<std::size_t>(size);
  }
  return {};
}

}  // namespace

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
  return {};
}

Status Spool::Append(const v1::LogChunk& chunk) {
  if (segments_.empty() || segments_.back().size >= kSpoolSegmentBytes)
    TY_RETURN_IF_ERROR(OpenSegment(chunk.first_line()));
  Segment& segment = segments_.back();
  const std::string record = SpoolRecord(chunk.SerializeAsString());
  if (const Status written = WriteAt(segment.file.get(), record, segment.size); !written) {
    if (ftruncate(segment.file.get(), segment.size) != 0)
      return written;  // the next attempt writes over the rest
    return written;
  }
  const auto size = static_cast<std::int64_t>(record.size());
  segment.size += size;
  end_ += size;
  return {};
}

Result<std::string> Spool::Read(std::int64_t at) {
  const auto after = std::ranges::upper_bound(segments_, at, {}, &Segment::begin);
  TY_CHECK(after != segments_.begin());
  const Segment& segment = *std::prev(after);
  std::string header(kSpoolHeaderBytes, '\0');
  TY_RETURN_IF_ERROR(ReadAt(segment.file.get(), header, at - segment.begin));
  const std::size_t size = SpoolContentSize(header);
  const std::int64_t content_at = at - segment.begin + static_cast<std::int64_t>(kSpoolHeaderBytes);
  const Error damaged{Code::kDataLoss, "the log spool is damaged", {}};
  if (content_at + static_cast<std::int64_t>(size) > segment.size) return std::unexpected(damaged);
  std::string content(size, '\0');
  TY_RETURN_IF_ERROR(ReadAt(segment.file.get(), content, content_at));
  if (!SpoolContentIntact(header, content)) return std::unexpected(damaged);
  return content;
}

Result<std::optional<std::string>> Spool::TakeNext() {
  while (next_ < end_ && in_flight_bytes_ < kInFlightBytesMax && in_flight_.size() < kInFlightChunksMax) {
    TY_TRY(std::string content, Read(next_));
    v1::LogChunk chunk;
    if (!chunk.ParseFromString(content))
      return std::unexpected(Error{Code::kDataLoss, "the log spool is damaged", {}});
    const auto size = static_cast<std::int64_t>(kSpoolHeaderBytes + content.size());
    in_flight_.push_back({.begin = next_, .size = size, .end_line = chunk.first_line() + chunk.line_count()});
    in_flight_bytes_ += size;
    next_ += size;
    if (in_flight_.back().end_line > acknowledged_line_) return content;
    Acknowledge(acknowledged_line_);
  }
  return std::nullopt;
}

void Spool::Rewind() {
  if (!in_flight_.empty()) next_ = in_flight_.front().begin;
  in_flight_.clear();
  in_flight_bytes_ = 0;
}

void Spool::Acknowledge(std::int64_t next_line) {
  acknowledged_line_ = std::max(acknowledged_line_, next_line);
  while (!in_flight_.empty() && in_flight_.front().end_line <= acknowledged_line_) {
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
  std::vector<std::string> paths;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".log") paths.push_back(entry->path());
  }
  if (error && error != std::errc::no_such_file_or_directory)
    return std::unexpected(ErrnoError(error.value(), folder));
  std::ranges::sort(paths);
  std::vector<v1::LogChunk> chunks;
  for (const std::string& path : paths) {
    TY_TRY(const std::string bytes, ReadFile(path));
    std::string_view rest = bytes;
    std::string_view content;
    while (TakeSpoolRecord(rest, content)) {
      v1::LogChunk chunk;
      if (!chunk.ParseFromString(std::string(content))) break;
      if (chunk.first_line() + chunk.line_count() > from_line) chunks.push_back(std::move(chunk));
    }
  }
  return chunks;
}

}  // namespace trainyard::replica
