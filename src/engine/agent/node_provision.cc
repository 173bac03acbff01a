#include "engine/agent/node_provision.h"

#include "base/async/file.h"
#include "programs/environment/site_hook.h"

namespace trainyard::agent {

namespace {

Status WriteDefinition(const std::string& folder, const std::string& name, const std::string& contents) {
  const bool is_name = !name.empty() && name.front() != '.' && name.find('/') == std::string::npos &&
                       name.find('\0') == std::string::npos;
  if (!is_name)
    return std::unexpected(
        InvalidArgument("runtime_definitions", "the server sent a definition without a file's name"));
  const std::string path = folder + "/" + name;
  if (const auto present = ReadFile(path); present && *present == contents) return {};
  return WriteFileAtomically(path, contents);
}

}  // namespace

Status ProvisionEnvironments(const std::string& environments_dir,
                             const std::map<std::string, std::string>& definitions) {
  TY_RETURN_IF_ERROR(MakeFolders(environments_dir));
  TY_RETURN_IF_ERROR(environment::InstallSiteHook(environments_dir));
  if (definitions.empty()) return {};
  const std::string folder = environments_dir + "/runtimes.d";
  TY_RETURN_IF_ERROR(MakeFolders(folder));
  for (const auto& [name, contents] : definitions)
    TY_RETURN_IF_ERROR(WriteDefinition(folder, name, contents));
  return {};
}

}  // namespace trainyard::agent
