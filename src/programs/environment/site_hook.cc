#include "programs/environment/site_hook.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "base/async/file.h"
#include "programs/environment/layout.h"
#include "programs/environment/python_files.h"

namespace trainyard::environment {

namespace {

struct Module {
  const char* name;
  std::size_t embedded;  ///< its position in python::Files()
};
constexpr std::array kModules{Module{"sitecustomize.py", 0}, Module{"trainyard_tpu_as_cpu.py", 2},
                              Module{"last/trainyard.py", 3}, Module{"trainyard_warm.py", 5},
                              Module{"trainyard_become.py", 6}};

}  // namespace

std::string_view EmbeddedSiteCustomize() noexcept { return python::Files()[0].bytes; }

Status InstallSiteHook(const std::filesystem::path& environments_dir) {
  const std::filesystem::path site = Layout{environments_dir}.Site();
  TY_RETURN_IF_ERROR(MakeFolders(site / "last"));
  std::error_code error;
  // Readable by every user that a replica's program may have.
  for (const std::filesystem::path& folder : {site, site / "last"}) {
    std::filesystem::permissions(folder, std::filesystem::perms(0755), error);
    if (error) return std::unexpected(ErrnoError(error.value(), "chmod " + folder.string()));
  }
  for (const Module& module : kModules) {
    const std::string_view bytes = python::Files()[module.embedded].bytes;
    if (const auto there = ReadFile(site / module.name); there && *there == bytes) continue;
    TY_RETURN_IF_ERROR(WriteFileAtomically(site / module.name, bytes));
  }
  return {};
}

bool HasSiteHook(const Layout& layout) {
  return std::ranges::all_of(kModules, [&layout](const Module& module) {
    return ::access((layout.Site() / module.name).c_str(), R_OK) == 0;
  });
}

}  // namespace trainyard::environment
