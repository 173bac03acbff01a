#include "programs/image/unpack_budget.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <string>

#include "programs/image/cache.h"

namespace trainyard::image {

namespace {

constexpr const char* kWhatToDo = "; remove images that are not used (run: trainyard images remove --unused)";

}  // namespace

Status UnpackBudget::Spend(std::int64_t bytes) {
  bytes_ += std::clamp<std::int64_t>(bytes, 0, INT64_MAX - bytes_);
  if (bytes_ <= kUnpackedFreeBytes || bytes_ / kUnpackRatioMax <= blob_bytes_) return {};
  return std::unexpected(InvalidArgument(
      {}, "a layer of " + PrintBytes(blob_bytes_) + " unpacks to " + PrintBytes(bytes_) +
              " or more, which is over " + PrintBytes(kUnpackedFreeBytes) + " and more than " +
              std::to_string(kUnpackRatioMax) +
              " times its size: it is refused; build the image without large files that hold nothing"));
}

std::int64_t DiskReserve(std::int64_t total) {
  return std::min(kDiskReserveBytes, total / kDiskReserveShare);
}

Status DiskGuard::Wrote(std::int64_t bytes) {
  since_look_ += bytes;
  if (since_look_ < kDiskLookBytes) return {};
  since_look_ = 0;
  struct statvfs disk{};
  if (::fstatvfs(folder_, &disk) != 0) return {};  // then the disk itself says when it is full
  const auto block = static_cast<std::int64_t>(disk.f_frsize);
  const std::int64_t free = static_cast<std::int64_t>(disk.f_bavail) * block;
  const std::int64_t reserve = DiskReserve(static_cast<std::int64_t>(disk.f_blocks) * block);
  if (free < reserve)
    return std::unexpected(Error{Code::kResourceExhausted,
                                 "the disk has " + PrintBytes(free) + " left, and " + PrintBytes(reserve) +
                                     " of it are kept free when a layer is unpacked" + kWhatToDo,
                                 {}});
  const auto files = static_cast<std::int64_t>(disk.f_files);
  const auto files_free = static_cast<std::int64_t>(disk.f_favail);
  if (files > 0 && files_free < files / kFilesReserveShare)
    return std::unexpected(
        Error{Code::kResourceExhausted,
              "the disk has room for " + std::to_string(files_free) +
                  " more files, and a hundredth of it is kept free when a layer is unpacked" + kWhatToDo,
              {}});
  return {};
}

}  // namespace trainyard::image
