#include "image/own_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <string>

#include "image/layer_folder.h"

namespace trainyard::image {

Result<OwnFolder> OwnFolder::Make(const CacheLayout& layout, std::string_view prefix) {
  std::string name = (layout.Pulls() / prefix).string() + "XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) return std::unexpected(ErrnoError(errno, "mkdir " + name));
  return OwnFolder(name);
}

OwnFolder::~OwnFolder() {
  if (!path_.empty()) RemoveTree(path_);
}

}  // namespace trainyard::image
