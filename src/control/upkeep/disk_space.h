#pragma once

#include <string>

#include "base/async/guarded.h"
#include "base/result.h"
#include "rules/retention/disk_marks.h"

namespace trainyard::control {

/// How much space the disk of the data directory has, and what it means. Any thread.
class DiskSpace {
 public:
  DiskSpace(std::string folder, retention::DiskMarks marks);

  struct Seen {
    retention::DiskReading reading{};
    retention::DiskLevel level = retention::DiskLevel::kEnough;
    Status may_store{};  ///< retention::CheckSpace, for clients
    /// Without the place: clients are not told where the server keeps its files.
    [[nodiscard]] retention::DiskReading ForClients() const;
    Status may_begin{};  ///< kResourceExhausted at kLow and kFull
  };
  /// Asks the file system: an instant, but blocking where it is one of a network. A disk that does not say is
  /// taken for as it was.
  Seen Look();
  /// The same, after a try to write, which finds a disk in trouble. Blocking.
  Seen Try();
  [[nodiscard]] Seen Last() const;
  [[nodiscard]] const retention::DiskMarks& marks() const noexcept { return marks_; }

 private:
  std::string folder_;
  retention::DiskMarks marks_;
  Guarded<Seen> last_;
};

}  // namespace trainyard::control
