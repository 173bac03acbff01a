#pragma once

#include <cstdint>
#include <string>

#include "base/async/guarded.h"
#include "base/result.h"

namespace trainyard {

/// A file that keeps some bytes of its disk for whoever has to make room there: a deletion writes, too. It is
/// given up in slices, because others wait for every free byte. Any thread; blocking, for an instant.
class DiskReserve {
 public:
  static constexpr std::int64_t kBytes = std::int64_t{16} << 20;
  static constexpr std::int64_t kSlice = std::int64_t{1} << 20;
  /// The reserve is only made where the disk keeps this much free besides.
  static constexpr std::int64_t kFreeMin = 8 * kBytes;
  /// A server needs so much to start, for the memory that its databases share and its notes in DATA/run.
  static constexpr std::int64_t kStartBytes = std::int64_t{4} << 20;

  explicit DiskReserve(std::string path) : path_(std::move(path)) {}

  /// Makes the file whole again if there is room for it. Failing is no error: the next call tries again.
  void Keep();
  /// Makes one slice free. False: nothing is left of it.
  bool GiveUp();
  /// Gives up slices until `bytes` are free or nothing is left.
  void MakeRoom(std::int64_t bytes);

 private:
  struct State {
    bool is_whole = false;  ///< made so by this process: a copied directory may have it without its bytes
  };
  std::string path_;
  Guarded<State> state_;
};

}  // namespace trainyard
