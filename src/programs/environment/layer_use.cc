#include "programs/environment/layer_use.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "base/async/file.h"
#include "programs/environment/catalogue.h"
#include "programs/environment/layout.h"

namespace trainyard::environment {

Result<RuntimeUse> RuntimeUse::Begin(const std::filesystem::path& environments_dir,
                                     std::string_view runtime_version) {
  TY_TRY(const RuntimeVersion runtime, LoadRuntimeVersion(environments_dir, runtime_version));
  const std::filesystem::path folder = Layout{environments_dir}.Runtime(runtime);
  TY_RETURN_IF_ERROR(MakeFolders(folder.parent_path()));
  TY_TRY(UniqueFd file, OpenFile(Layout::UseLock(folder), O_RDWR | O_CREAT));
  if (::flock(file.get(), LOCK_SH | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return std::unexpected(ErrnoError(errno, "flock " + folder.string() + ".use"));
    return std::unexpected(Unavailable("runtime version " + runtime.version + " is being removed"));
  }
  ::futimens(file.get(), nullptr);  // best effort: the time is only shown
  return RuntimeUse(std::move(file));
}

Result<LayerUse> LayerUse::Begin(const EnvironmentRequest& request) {
  const Layout layout{request.environments_dir};
  TY_TRY(const RuntimeVersion runtime, LoadRuntimeVersion(layout.root, request.runtime_version));
  const std::filesystem::path folder = layout.Layer(runtime, request.packages);
  TY_RETURN_IF_ERROR(MakeFolders(folder.parent_path()));
  TY_TRY(UniqueFd file, OpenFile(Layout::UseLock(folder), O_RDWR | O_CREAT));
  if (::flock(file.get(), LOCK_SH | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return std::unexpected(ErrnoError(errno, "flock " + folder.string() + ".use"));
    return std::unexpected(Unavailable("the packages' layer is being removed"));
  }
  ::futimens(file.get(), nullptr);  // best effort: without it the layer is removed sooner, and built again
  return LayerUse(std::move(file));
}

}  // namespace trainyard::environment
