#include "programs/environment/stand_in.h"

#include <algorithm>

#include "base/async/file.h"

namespace trainyard::environment {

Status WriteStandIns(const std::filesystem::path& site_packages,
                     const std::map<std::string, std::string>& versions) {
  for (const auto& [name, version] : versions) {
    std::string stem = name + "-" + version + ".dist-info";
    std::ranges::replace(stem.begin(), stem.begin() + static_cast<std::ptrdiff_t>(name.size()), '-', '_');
    const std::filesystem::path info = site_packages / stem;
    TY_RETURN_IF_ERROR(MakeFolders(info));
    TY_RETURN_IF_ERROR(WriteFileAtomically(
        info / "METADATA", "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n"));
    TY_RETURN_IF_ERROR(WriteFileAtomically(info / "INSTALLER", "trainyard\n"));
    // Without it pip refuses to replace the distribution by another version of it.
    std::string record;
    for (const char* file : {"METADATA", "INSTALLER", "RECORD"}) record += stem + "/" + file + ",,\n";
    TY_RETURN_IF_ERROR(WriteFileAtomically(info / "RECORD", record));
  }
  return {};
}

}  // namespace trainyard::environment
