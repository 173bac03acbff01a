#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/result.h"

namespace trainyard::image {

/// The attributes of one file in an archive.
struct EntryAttributes {
  mode_t mode = 0;  ///< permissions only
  uid_t uid = 0;
  gid_t gid = 0;
  timespec modified{};
  std::vector<std::pair<std::string, std::string>> xattrs;
};

/// The directory into which a layer is unpacked. Whatever the archive contains, nothing outside of the
/// directory is changed: paths are resolved by the kernel as if the directory were the root (openat2,
/// RESOLVE_IN_ROOT), and ".." is rejected.
///
/// Deletions take overlayfs' form: a character device 0/0 for a whiteout, the xattr overlay.opaque for an
/// opaque directory (as user.overlay.opaque and, as root, trusted.overlay.opaque). As root, everything keeps
/// its owner; as an ordinary user, everything belongs to that user, and a user namespace maps root to it. Of
/// the xattrs, user.* (except overlayfs' own) and, as root, security.capability are kept.
///
/// Errors: kInvalidArgument for hostile contents; those of the file system. One thread.
class LayerFolder {
 public:
  /// The directory must exist and be empty.
  [[nodiscard]] static Result<LayerFolder> Open(const std::filesystem::path& path);

  [[nodiscard]] Status AddDirectory(std::string_view path, const EntryAttributes& attributes);
  /// Begins a file; write to the descriptor, then FinishFile.
  [[nodiscard]] Result<UniqueFd> BeginFile(std::string_view path);
  [[nodiscard]] Status FinishFile(int descriptor, std::string_view path, std::int64_t size,
                                  const EntryAttributes& attributes);
  [[nodiscard]] Status AddSymlink(std::string_view path, const std::string& target,
                                  const EntryAttributes& attributes);
  [[nodiscard]] Status AddHardLink(std::string_view path, std::string_view target);
  /// Adds a FIFO or, as root, a device.
  [[nodiscard]] Status AddNode(std::string_view path, mode_t type, dev_t device,
                               const EntryAttributes& attributes);
  /// ".wh.NAME" and ".wh..wh..opq".
  [[nodiscard]] static bool IsWhiteout(std::string_view path);
  [[nodiscard]] Status AddWhiteout(std::string_view path);
  /// Sets the times and permissions of directories. Call it last, because later entries would change the
  /// times or need the permissions.
  [[nodiscard]] Status Finish();

 private:
  struct Place {
    int parent = -1;  ///< owned by the directory, until the next call
    std::string name;
  };
  struct FolderAttributes {
    std::string path;  ///< "" is the layer's root
    EntryAttributes attributes;
  };

  LayerFolder(UniqueFd root, bool privileged) : root_(std::move(root)), privileged_(privileged) {}
  /// Creates parents that the archive does not have.
  [[nodiscard]] Result<Place> PlaceOf(std::string_view path);
  [[nodiscard]] Result<int> OpenParent(const std::string& folder);
  [[nodiscard]] Result<UniqueFd> OpenFolder(const std::string& folder) const;
  [[nodiscard]] Status MakeParents(const std::string& folder);
  [[nodiscard]] Status ClearWay(const Place& place) const;
  [[nodiscard]] Status MarkOpaque(const std::string& folder);
  [[nodiscard]] Status SetXattrs(int descriptor, std::string_view path,
                                 const EntryAttributes& attributes) const;

  UniqueFd root_;
  bool privileged_;
  std::string parent_path_;
  UniqueFd parent_;
  std::vector<FolderAttributes> folders_;
};

/// Renames a directory, whatever its permissions: an ordinary user may move a directory only if it is
/// writable, and an image's root may be read-only. Returns errno, or 0.
[[nodiscard]] int MoveFolder(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace trainyard::image
