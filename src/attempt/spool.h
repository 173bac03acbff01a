#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "async/unique_fd.h"
#include "base/result.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::replica {

/// One file of the spool; it goes when all its lines are acknowledged.
inline constexpr std::int64_t kSpoolSegmentBytes = std::int64_t{4} << 20;
/// A smaller one is not worth a new file when all of it is acknowledged.
inline constexpr std::int64_t kSpoolSegmentKeptBytes = std::int64_t{256} << 10;
/// What may be on its way to the server without an acknowledgement.
inline constexpr std::int64_t kInFlightBytesMax = std::int64_t{1} << 20;
inline constexpr std::size_t kInFlightChunksMax = 256;

/// The log chunks of one attempt on disk, from being written to being acknowledged by the server: a directory
/// of segments "FIRSTLINE.log" with records (spool_record.h). Memory use does not depend on how much is
/// spooled. One thread. Not synced: a crash of the machine ends the attempt anyway; a crash of the supervisor
/// loses nothing of it.
class Spool {
 public:
  /// Makes the directory. kAlreadyExists: the attempt has been started before.
  [[nodiscard]] static Result<Spool> Create(std::string folder);

  /// kResourceExhausted: the disk is full, the spool is as before; try again.
  [[nodiscard]] Status Append(const v1::LogChunk& chunk);

  /// The next chunk to be sent, serialized; nothing when all were sent or too much is in flight. An error:
  /// the disk.
  [[nodiscard]] Result<std::optional<std::string>> TakeNext();
  /// The connection was lost: everything that is not acknowledged is to be sent again.
  void Rewind();
  /// Every line before `next_line` is durable at the server.
  void Acknowledge(std::int64_t next_line);

  /// Bytes that are not acknowledged. The disk holds up to a segment more.
  [[nodiscard]] std::int64_t bytes() const noexcept { return end_ - acknowledged(); }
  /// Whether each chunk was handed out since the last Rewind.
  [[nodiscard]] bool all_sent() const noexcept { return next_ == end_; }

 private:
  /// Records are addressed by their distance from the first byte ever written.
  struct Sent {
    std::int64_t begin;
    std::int64_t size;
    std::int64_t end_line;
  };
  struct Segment {
    std::int64_t begin;
    std::int64_t size = 0;
    std::string path;
    UniqueFd file{};
  };
  explicit Spool(std::string folder) : folder_(std::move(folder)) {}
  Status OpenSegment(std::int64_t first_line);
  Result<std::string> Read(std::int64_t at);
  void DropSegments();
  /// Everything before it is acknowledged.
  [[nodiscard]] std::int64_t acknowledged() const noexcept {
    return in_flight_.empty() ? next_ : in_flight_.front().begin;
  }

  std::string folder_;
  std::deque<Segment> segments_;
  std::deque<Sent> in_flight_;
  std::int64_t in_flight_bytes_ = 0;
  std::int64_t next_ = 0;  ///< the next record to send
  std::int64_t end_ = 0;
  std::int64_t acknowledged_line_ = 0;
};

/// What a spool still has of the lines from `from_line` on, in order; a torn record at the end (the
/// supervisor was killed while writing) is left out. A spool that was never made is empty.
[[nodiscard]] Result<std::vector<v1::LogChunk>> ReadSpool(const std::string& folder, std::int64_t from_line);

}  // namespace trainyard::replica
