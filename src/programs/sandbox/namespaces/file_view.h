#pragma once

#include <optional>
#include <string>
#include <vector>

namespace trainyard::replica {

/// The view of the file system for a process in a private mount namespace. Paths are absolute and contain no
/// symbolic links; an empty path means no change.
struct FileView {
  /// A directory or file that also appears at another path, which must exist unless it is below /tmp.
  struct Bind {
    std::string from;
    std::string to;
    bool read_only = false;
    bool data_only = false;  ///< setuid bits and device files have no effect there
    friend bool operator==(const Bind&, const Bind&) = default;
  };
  /// Directories right below the root that the machine does not have: for them the view gets a separate root
  /// (file_view.cc).
  std::vector<std::string> added;
  std::string tmp;                     ///< becomes /tmp
  std::string hosts;                   ///< becomes /etc/hosts, if the machine has one
  std::string hidden;                  ///< directory of which only `kept` is visible
  std::vector<std::string> kept;       ///< directories below `hidden`
  std::vector<std::string> read_only;  ///< directories that cannot be written
  std::vector<Bind> binds;
  std::vector<std::string> forbidden;  ///< device files that cannot be opened; missing ones are ignored
  std::vector<std::string> emptied;    ///< directories that appear empty; unreachable ones are ignored
  bool proc = false;                   ///< /proc of the current PID namespace, without the machine's settings
  bool shared_memory = false;          ///< a private /dev/shm
  int users = -1;  ///< user namespace to whose ids the binds are mapped (id_map.h); -1: not mapped
};

/// The directory of the service's own sockets (packaging/). It must be hidden: the keeper starts processes
/// for root, and a package's program may be root.
inline constexpr const char* kServiceRunFolder = "/run/trainyard";

struct ViewFailure {
  const char* step;
  int error;  ///< errno
};

/// Makes the view for the calling process, which must have just entered a private mount namespace: nothing of
/// the view is visible outside. Stops at the first step that the kernel rejects. The directories in `kept`
/// and `read_only` stay visible even if they are below /tmp.
[[nodiscard]] std::optional<ViewFailure> SetUpFileView(const FileView& view);

}  // namespace trainyard::replica
