#pragma once

#include <optional>
#include <string>
#include <vector>

namespace trainyard::replica {

/// How the file system looks to a process in a mount namespace of its own. Paths are absolute and free of
/// links; an empty one leaves things as they are.
struct FileView {
  /// A directory or file that is seen at another place as well, which must be there unless it is below /tmp.
  struct Bind {
    std::string from;
    std::string to;
    bool read_only = false;
    bool data_only = false;  ///< setuid bits and device files mean nothing there
    friend bool operator==(const Bind&, const Bind&) = default;
  };
  /// Directories right below the root that the machine does not have: the view gets a root of its own for
  /// them (file_view.cc).
  std::vector<std::string> added;
  std::string tmp;                     ///< becomes /tmp
  std::string hosts;                   ///< becomes /etc/hosts, if the machine has one
  std::string hidden;                  ///< folder of which only `kept` is seen
  std::vector<std::string> kept;       ///< folders below `hidden`
  std::vector<std::string> read_only;  ///< directories that cannot be written
  std::vector<Bind> binds;
  std::vector<std::string> forbidden;  ///< device files that cannot be opened; those not there are left out
  std::vector<std::string> emptied;    ///< directories seen empty; those that are not reached are left out
  bool proc = false;           ///< /proc of the PID namespace that we are in, without the machine's settings
  bool shared_memory = false;  ///< a /dev/shm of its own
  int users = -1;  ///< user namespace with whose ids the binds are seen (user_namespace.h); -1: as they are
};

/// Where the service's own sockets are (packaging/): the keeper's starts what root asks for, and a package
/// may be root.
inline constexpr const char* kServiceRunFolder = "/run/trainyard";

struct ViewFailure {
  const char* step;
  int error;  ///< errno
};

/// Makes the view for the calling process, which must have just entered a mount namespace of its own: nothing
/// of it is seen outside. Stops at the first step that the kernel refuses. The directories in `kept` and
/// `read_only` stay visible also where they are below /tmp.
[[nodiscard]] std::optional<ViewFailure> SetUpFileView(const FileView& view);

}  // namespace trainyard::replica
