#include "programs/sandbox/namespaces/writable_folder.h"

#include <sys/mount.h>

#include <cerrno>

#include "base/async/file.h"

namespace trainyard::replica {

Status MakeChangeFolders(const WritableFolder& writable) {
  TY_RETURN_IF_ERROR(MakeFolders(writable.Upper(), 0755));
  return MakeFolders(writable.Work(), 0755);
}

int MakeWritable(const WritableFolder& writable, bool in_user_namespace) {
  // What separates options and lower directories, and what escapes those.
  if ((writable.folder + writable.changes).find_first_of(R"(,:\)") != std::string::npos) return EINVAL;
  // volatile: nothing is synced, since the changes end with the attempt; otherwise each end of a replica
  // would sync the whole disk. userxattr: an unprivileged process may not set the attributes that overlayfs
  // uses by default.
  const std::string options = "lowerdir=" + writable.folder + ",upperdir=" + writable.Upper() +
                              ",workdir=" + writable.Work() + ",volatile" +
                              (in_user_namespace ? ",userxattr" : "");
  if (mount("overlay", writable.folder.c_str(), "overlay", MS_NOSUID | MS_NODEV, options.c_str()) != 0)
    return errno;
  // The overlay has the directories open. Without a hidden directory there is nothing to unmount.
  static_cast<void>(umount2(writable.changes.c_str(), MNT_DETACH));
  return 0;
}

}  // namespace trainyard::replica
