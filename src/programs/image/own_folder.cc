#include "programs/image/own_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <string>

#include "base/async/remove_tree.h"

namespace trainyard::image {

Result<OwnFolder> OwnFolder::Make(const CacheLayout& layout, std::string_view prefix) {
  std::string name = (layout.Pulls() / prefix).string() + "XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) return std::unexpected(ErrnoError(errno, "mkdir " + name));
  return OwnFolder(name);
}

OwnFolder::~OwnFolder() {
  if (!path_.empty()) static_cast<void>(RemoveTree(path_));
}

}  // namespace trainyard::image
