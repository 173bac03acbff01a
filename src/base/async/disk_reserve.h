#pragma once

#include <cstdint>
#include <string>

#include "base/async/guarded.h"
#include "base/result.h"

namespace trainyard {

/// A file that reserves disk space for operations that free more space: a deletion writes, too. It is
/// released in slices, because other programs would use the freed space at once. Any thread; blocks only
/// briefly.
class DiskReserve {
 public:
  static constexpr std::int64_t kBytes = std::int64_t{16} << 20;
  static constexpr std::int64_t kSlice = std::int64_t{1} << 20;
  /// The reserve is made only if this much remains free on the disk.
  static constexpr std::int64_t kFreeMin = 8 * kBytes;
  /// Space that a server needs to start: for the shared memory of its databases and its files in DATA/run.
  static constexpr std::int64_t kStartBytes = std::int64_t{4} << 20;

  explicit DiskReserve(std::string path) : path_(std::move(path)) {}

  /// Restores the file to its full size if there is enough space. Failing is not an error: the next call
  /// tries again.
  void Keep();
  /// Frees one slice. False: nothing is left of the reserve.
  bool GiveUp();
  /// Frees slices until `bytes` are free on the disk or nothing is left.
  void MakeRoom(std::int64_t bytes);

 private:
  struct State {
    bool is_whole = false;  ///< restored by this process: in a copied directory the file may be sparse
  };
  std::string path_;
  Guarded<State> state_;
};

}  // namespace trainyard
