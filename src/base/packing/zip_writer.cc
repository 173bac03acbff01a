#include <zlib.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <limits>
#include <utility>

#include "base/packing/archive_writer.h"

namespace trainyard::packing {

namespace {

constexpr std::uint64_t kMax32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMax16 = std::numeric_limits<std::uint16_t>::max();
constexpr std::uint16_t kVersion = 20;     // 2.0: folders, deflate
constexpr std::uint16_t kVersion64 = 45;   // 4.5: zip64
constexpr std::uint16_t kMadeBy = 0x0300;  // Unix
constexpr std::uint16_t kSizesFollow = 0x0008;
constexpr std::uint16_t kNamesAreUtf8 = 0x0800;
constexpr std::uint16_t kDeflated = 8;
constexpr std::uint16_t kExtra64 = 1;
constexpr std::uint32_t kFileAttributes = 0100644U << 16;
constexpr std::uint32_t kProgramAttributes = 0100755U << 16;
constexpr std::uint32_t kFolderAttributes = (040755U << 16) | 0x10;
constexpr std::size_t kOutBytes = std::size_t{128} << 10;

/// Little-endian numbers.
template <class Number>
void Put(Number number, std::string& out) {
  for (std::size_t i = 0; i < sizeof number; ++i)
    out.push_back(static_cast<char>(static_cast<std::uint64_t>(number) >> (8 * i) & 0xff));
}
void Put16(std::uint64_t number, std::string& out) { Put(static_cast<std::uint16_t>(number), out); }
void Put32(std::uint64_t number, std::string& out) { Put(static_cast<std::uint32_t>(number), out); }
void Put64(std::uint64_t number, std::string& out) { Put(number, out); }

/// Date and time as DOS had them, of UTC; two numbers of 16 bits.
std::uint32_t DosTime(SysTime time) {
  using namespace std::chrono;
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(floor<seconds>(time - day));
  const int year = std::clamp(static_cast<int>(date.year()), 1980, 2107);
  const std::uint32_t dos_date = static_cast<std::uint32_t>(year - 1980) << 9 |
                                 static_cast<unsigned>(date.month()) << 5 | static_cast<unsigned>(date.day());
  const auto dos_clock = static_cast<std::uint32_t>(
      clock.hours().count() << 11 | clock.minutes().count() << 5 | clock.seconds().count() / 2);
  return dos_date << 16 | dos_clock;
}

/// An entry in the list at the archive's end.
struct Member {
  std::string name;
  std::uint32_t time = 0;
  std::uint32_t crc = 0;
  std::uint64_t packed = 0;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;
  bool is_64 = false;  ///< its sizes may need more than 32 bits
  std::uint32_t attributes = kFileAttributes;

  [[nodiscard]] bool IsPacked() const { return bytes > 0; }
  [[nodiscard]] std::uint16_t Flags() const { return kNamesAreUtf8 | (IsPacked() ? kSizesFollow : 0); }
};

/// Writes the fields that both headers of an entry begin with.
void PutCommon(const Member& member, std::uint16_t version, std::string& out) {
  Put16(version, out);
  Put16(member.Flags(), out);
  Put16(member.IsPacked() ? kDeflated : 0, out);
  Put32(member.time, out);
}

void PutLocalHeader(const Member& member, std::string& out) {
  Put32(0x04034b50, out);
  PutCommon(member, member.is_64 ? kVersion64 : kVersion, out);
  Put32(0, out);
  Put32(member.is_64 ? kMax32 : 0, out);
  Put32(member.is_64 ? kMax32 : 0, out);
  Put16(member.name.size(), out);
  Put16(member.is_64 ? 20 : 0, out);
  out += member.name;
  if (!member.is_64) return;
  Put16(kExtra64, out);
  Put16(16, out);
  Put64(0, out);
  Put64(0, out);
}

void PutSizes(const Member& member, std::string& out) {
  Put32(0x08074b50, out);
  Put32(member.crc, out);
  const auto put = member.is_64 ? Put64 : Put32;
  put(member.packed, out);
  put(member.bytes, out);
}

void PutCentralHeader(const Member& member, std::string& out) {
  std::string extra;
  for (const std::uint64_t number : {member.bytes, member.packed, member.offset})
    if (number >= kMax32) Put64(number, extra);
  Put32(0x02014b50, out);
  const std::uint16_t version = member.is_64 || !extra.empty() ? kVersion64 : kVersion;
  Put16(kMadeBy | version, out);
  PutCommon(member, version, out);
  Put32(member.crc, out);
  Put32(std::min(member.packed, kMax32), out);
  Put32(std::min(member.bytes, kMax32), out);
  Put16(member.name.size(), out);
  Put16(extra.empty() ? 0 : extra.size() + 4, out);
  Put16(0, out);  // comment, disk, kind
  Put16(0, out);
  Put16(0, out);
  Put32(member.attributes, out);
  Put32(std::min(member.offset, kMax32), out);
  out += member.name;
  if (extra.empty()) return;
  Put16(kExtra64, out);
  Put16(extra.size(), out);
  out += extra;
}

/// Size and position of the list of entries.
struct Directory {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;
};

void PutEnd64(const Directory& directory, std::string& out) {
  Put32(0x06064b50, out);
  Put64(44, out);  // bytes that follow
  Put16(kMadeBy | kVersion64, out);
  Put16(kVersion64, out);
  Put32(0, out);
  Put32(0, out);
  Put64(directory.count, out);
  Put64(directory.count, out);
  Put64(directory.bytes, out);
  Put64(directory.offset, out);
  Put32(0x07064b50, out);  // position of the zip64 end record
  Put32(0, out);
  Put64(directory.offset + directory.bytes, out);
  Put32(1, out);
}

void PutEnd(const Directory& directory, std::string& out) {
  if (directory.count >= kMax16 || directory.bytes >= kMax32 || directory.offset >= kMax32)
    PutEnd64(directory, out);
  Put32(0x06054b50, out);
  Put16(0, out);
  Put16(0, out);
  Put16(std::min(directory.count, kMax16), out);
  Put16(std::min(directory.count, kMax16), out);
  Put32(std::min(directory.bytes, kMax32), out);
  Put32(std::min(directory.offset, kMax32), out);
  Put16(0, out);
}

class ZipWriter final : public ArchiveWriter {
 public:
  ZipWriter() {
    // The fastest: a download from this machine waits for the compression, not for a network.
    is_ready_ = ::deflateInit2(&stream_, Z_BEST_SPEED, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL,
                               Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ZipWriter(const ZipWriter&) = delete;
  ZipWriter& operator=(const ZipWriter&) = delete;
  ~ZipWriter() override { ::deflateEnd(&stream_); }

  Status Begin(const ArchiveEntry& entry, std::string& out) override {
    if (!is_ready_) return std::unexpected(Internal("cannot compress: no memory"));
    ::deflateReset(&stream_);
    const auto bytes = static_cast<std::uint64_t>(entry.bytes);
    current_ = {.name = entry.name,
                .time = DosTime(entry.modified),
                .bytes = bytes,
                .offset = offset_,
                // Deflate makes incompressible data a little longer.
                .is_64 = bytes + (bytes >> 8) >= kMax32,
                .attributes = entry.name.ends_with('/') ? kFolderAttributes
                              : entry.executable        ? kProgramAttributes
                                                        : kFileAttributes};
    left_ = bytes;
    const std::size_t before = out.size();
    PutLocalHeader(current_, out);
    offset_ += out.size() - before;
    return {};
  }

  Status Add(std::string_view bytes, std::string& out) override {
    if (bytes.size() > left_) return std::unexpected(Changed("longer"));
    left_ -= bytes.size();
    current_.crc = static_cast<std::uint32_t>(
        ::crc32_z(current_.crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
    return Deflate(bytes, Z_NO_FLUSH, out);
  }

  Status End(std::string& out) override {
    if (left_ > 0) return std::unexpected(Changed("shorter"));
    if (current_.IsPacked()) {
      TY_RETURN_IF_ERROR(Deflate({}, Z_FINISH, out));
      const std::size_t before = out.size();
      PutSizes(current_, out);
      offset_ += out.size() - before;
    }
    PutCentralHeader(current_, directory_);
    ++count_;
    return {};
  }

  Result<bool> Finish(std::string& out) override {
    out += std::string_view(directory_).substr(sent_, kEndPieceBytes);
    sent_ = std::min(sent_ + kEndPieceBytes, directory_.size());
    if (sent_ < directory_.size()) return true;
    PutEnd({.count = count_, .bytes = directory_.size(), .offset = offset_}, out);
    return false;
  }

 private:
  static Error Changed(const char* how) {
    return {Code::kDataLoss, std::string("an object became ") + how + " while it was read", {}};
  }

  Status Deflate(std::string_view bytes, int flush, std::string& out) {
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    for (int done = Z_OK; done != Z_STREAM_END && (flush == Z_FINISH || stream_.avail_in > 0);) {
      const std::size_t before = out.size();
      out.resize(before + kOutBytes);
      stream_.next_out = reinterpret_cast<Bytef*>(out.data()) + before;
      stream_.avail_out = kOutBytes;
      done = ::deflate(&stream_, flush);
      const std::size_t made = kOutBytes - stream_.avail_out;
      out.resize(before + made);
      current_.packed += made;
      offset_ += made;
      if (done != Z_OK && done != Z_STREAM_END) return std::unexpected(Internal("cannot compress"));
    }
    return {};
  }

  z_stream stream_{};
  bool is_ready_ = false;
  Member current_;
  std::uint64_t left_ = 0;
  std::uint64_t offset_ = 0;  ///< size of the archive so far
  std::uint64_t count_ = 0;
  std::string directory_;
  std::size_t sent_ = 0;  ///< of the directory
};

}  // namespace

std::unique_ptr<ArchiveWriter> MakeZipWriter() { return std::make_unique<ZipWriter>(); }

}  // namespace trainyard::packing
