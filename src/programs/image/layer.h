#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>

#include "base/result.h"

namespace trainyard::image {

/// A layer may always unpack to this much.
inline constexpr std::int64_t kUnpackedFreeBytes = std::int64_t{1} << 30;
/// Above that, a layer may unpack to this many times its compressed size. Programs and data compress to a
/// half or a tenth; only repetitions compress to a hundredth.
inline constexpr std::int64_t kUnpackRatioMax = 100;
/// Bytes counted for each entry in addition to its content: a block of the disk, since millions of empty
/// files are an attack, too.
inline constexpr std::int64_t kEntryBytes = 4096;
/// Unpacking leaves this much free on the disk, or a twentieth of a small disk.
inline constexpr std::int64_t kDiskReserveBytes = std::int64_t{1} << 30;
inline constexpr std::int64_t kDiskReserveShare = 20;
/// On a file system that limits the number of files, unpacking leaves a hundredth of them free.
inline constexpr std::int64_t kFilesReserveShare = 100;
/// The free space is checked each time this much was written or counted for entries.
inline constexpr std::int64_t kDiskLookBytes = std::int64_t{16} << 20;

/// The limit on what one layer may unpack to, given the size of its blob. Pure; one thread.
class UnpackBudget {
 public:
  explicit UnpackBudget(std::int64_t blob_bytes) : blob_bytes_(blob_bytes) {}

  /// Counts bytes of the unpacked layer; holes count with their length. kInvalidArgument with both figures
  /// once they are over kUnpackedFreeBytes and over kUnpackRatioMax times the blob.
  [[nodiscard]] Status Spend(std::int64_t bytes);

 private:
  std::int64_t blob_bytes_;
  std::int64_t bytes_ = 0;
};

/// Keeps a layer from filling the disk to which it is unpacked. One thread.
class DiskGuard {
 public:
  /// `folder` is a descriptor of a directory on that disk and outlives the guard.
  explicit DiskGuard(int folder) : folder_(folder) {}

  /// Call it with the number of bytes written since the last call. kResourceExhausted if less than the
  /// reserve is free, in bytes or files: the message says how much is free and what to do.
  [[nodiscard]] Status Wrote(std::int64_t bytes);

 private:
  int folder_;
  std::int64_t since_look_ = kDiskLookBytes;  ///< the first call looks
};

/// How much must stay free on a disk of `total` bytes. Pure: any thread.
[[nodiscard]] std::int64_t DiskReserve(std::int64_t total);

/// Unpacks a layer (a tar, plain or compressed with gzip or zstd) into an existing, empty directory, in the
/// form that overlayfs reads (layer_folder.h), and checks its diff_id.
///
/// @return bytes of the files in it. kDataLoss: damaged, or not the layer that `diff_id` names.
/// kInvalidArgument: not a tar, or a hostile one: it unpacks to more than the budget allows for the blob's
/// size, or has too many files. kResourceExhausted: only the reserve is left on the disk. kCancelled. Files
/// that were written before an error stay. Blocks; any thread, several layers at a time.
[[nodiscard]] Result<std::int64_t> UnpackLayer(const std::filesystem::path& blob, const std::string& diff_id,
                                               const std::filesystem::path& folder,
                                               const std::stop_token& stop);

}  // namespace trainyard::image
