#pragma once

#include <string>

#include "base/async/guarded.h"
#include "base/result.h"
#include "rules/retention/disk_marks.h"

namespace trainyard::control {

/// The free space on the disk of the data directory, and which limits it reaches. Any thread.
class DiskSpace {
 public:
  DiskSpace(std::string folder, retention::DiskMarks marks);

  struct Seen {
    retention::DiskReading reading{};
    retention::DiskLevel level = retention::DiskLevel::kEnough;
    Status may_store{};  ///< retention::CheckSpace, for clients
    /// Without the path: clients are not told where the server stores its files.
    [[nodiscard]] retention::DiskReading ForClients() const;
    Status may_begin{};  ///< kResourceExhausted at kLow and kFull
  };
  /// Asks the file system: usually fast, but may block on a network disk. If it fails, the previous reading
  /// is kept.
  Seen Look();
  /// The same, after trying to write, which detects a failing disk. Blocking.
  Seen Try();
  [[nodiscard]] Seen Last() const;
  [[nodiscard]] const retention::DiskMarks& marks() const noexcept { return marks_; }

 private:
  std::string folder_;
  retention::DiskMarks marks_;
  Guarded<Seen> last_;
};

}  // namespace trainyard::control
