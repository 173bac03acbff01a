#include "programs/environment/site_hook.h"

#include <system_error>

#include "base/async/file.h"
#include "programs/environment/layout.h"
#include "programs/environment/python_files.h"

namespace trainyard::environment {

std::string_view EmbeddedSiteCustomize() noexcept { return python::Files()[0].bytes; }

Status InstallSiteHook(const std::filesystem::path& environments_dir) {
  const std::filesystem::path site = Layout{environments_dir}.Site();
  const std::filesystem::path file = site / "sitecustomize.py";
  if (const auto there = ReadFile(file); there && *there == EmbeddedSiteCustomize()) return {};
  TY_RETURN_IF_ERROR(MakeFolders(site));
  std::error_code error;
  // Readable by every user that a replica's program may have.
  std::filesystem::permissions(site, std::filesystem::perms(0755), error);
  if (error) return std::unexpected(ErrnoError(error.value(), "chmod " + site.string()));
  return WriteFileAtomically(file, EmbeddedSiteCustomize());
}

}  // namespace trainyard::environment
